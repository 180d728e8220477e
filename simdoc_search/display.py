"""Makes untrusted text safe to print, and formats numbers and commands for people.

Ids, paths, metadata, error messages of engines and mistyped arguments may contain terminal control sequences, invisible
characters or passwords.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

DEFAULT_STORE = "./.simdoc"
"""The store of commands without the option `--store`."""

# Invisible characters for which `str.isprintable` is true.
_INVISIBLE_CHARACTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)

_CONTROL_CHARACTER = re.compile(r"[^\n\t\f\x20-\x7e\xa0-\U0010ffff]")

_BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB")

_SCHEME = r"(?P<scheme>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]+:/+)"
_NO_PORT_AHEAD = r"(?!\d{1,5}(?:[/,\s]|$))"
_CREDENTIALS = (
    re.compile(rf"{_SCHEME}[^\s/:@]*:{_NO_PORT_AHEAD}\S*@"),  # a password may contain a slash or another @
    re.compile(rf"{_SCHEME}[^\s/@]*@"),
    re.compile(r"(?P<scheme>(?<![\w./\\-]))[^\s/\\:@'\"(]+:" + _NO_PORT_AHEAD + r"[^\s/\\@]\S*@"),
)


def safe_message(text: str) -> str:
    """Return a message without passwords, as one line that is safe to print."""
    return printable(without_secrets(text))


def printable(text: str) -> str:
    r"""Replace control, bidirectional, zero-width and other invisible characters with escapes such as `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_visible(c) else c.encode("unicode_escape").decode() for c in text)


def printable_text(text: str) -> str:
    r"""Escape the control characters of a text, except line ends, tabs and page breaks. Every line ends with `\n`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\v", "\n")
    return _CONTROL_CHARACTER.sub(lambda match: match.group().encode("unicode_escape").decode(), lines)


def safe_json(text: str) -> str:
    r"""Escape the characters that `printable` escapes, for example as `\u001b`. The JSON value does not change."""
    if text.isascii() and "\x7f" not in text:  # in ASCII, DEL is the only control character that JSON does not escape
        return text
    return "".join(c if _is_visible(c) or c == "\n" else _json_escape(c) for c in text)


def without_secrets(text: str) -> str:
    """Remove user and password from the URLs in a message: `http://user:password@host` becomes `http://host`."""
    previous = None
    while "@" in text and previous != text:
        previous = text
        for pattern in _CREDENTIALS:
            text = pattern.sub(r"\g<scheme>", text)
    return text


def without_credentials(url: str) -> str:
    """Remove user, password and query from one URL, whatever characters they contain."""
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        scheme, rest = "", url
    hosts, slash, path = re.split("[?#]", rest.rpartition("@")[2])[0].partition("/")
    # Text after a colon that is not a port may be a password, if the @ after it is missing.
    hosts = re.sub(rf"(?<=[^\[:]):{_NO_PORT_AHEAD}[^:,\]]+(?=,|$)", ":…", hosts)
    return f"{scheme}{slashes}{hosts}{slash}{path}"


def format_percent(share: float, digits: int = 1) -> str:
    """Format a share from 0 to 1 as a percentage. Only exactly 1 becomes 100 %, and only exactly 0 becomes 0 %."""
    step = 10.0**-digits
    if 0 < share < step / 200:
        return f"<{step:g} %"
    return f"{share * 100 if share >= 1 else min(share * 100, 100 - step):.{digits}f} %"


def format_estimate(share: float) -> str:
    """Format an estimated share from 0 to 1 as a whole percentage with a tilde."""
    percentage = format_percent(share, 0)
    return percentage if percentage.startswith("<") else f"~{percentage}"


def format_count(count: int, singular: str, plural: str | None = None) -> str:
    """Format a number with its noun: "1 token", "2 tokens"."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def format_fields(names: Iterable[str]) -> str:
    """Return "the field 'text'", or "the fields 'title' and 'body'"."""
    *first, last = map(repr, names)
    return f"the fields {', '.join(first)} and {last}" if first else f"the field {last}"


def describe_compared_documents(compared_count: int, candidate_count: int) -> str:
    """Return how many documents were compared: "10 of 45 candidates compared", or "10 documents compared"."""
    if compared_count < candidate_count:
        return f"{compared_count:,} of {format_count(candidate_count, 'candidate')} compared"
    return f"{format_count(compared_count, 'document')} compared"


def describe_shown_hits(
    shown_count: int,
    total_count: int,
    offset: int = 0,
    singular: str = "match",
    *,
    is_lower_bound: bool = False,
    plural: str = "",
) -> str:
    """Describe which hits are shown: "Showing 10 of 81 matches", or "4 matches" if all are shown.

    Args:
        shown_count: number of shown hits.
        total_count: total number of hits.
        offset: number of hits before the shown ones.
        singular: the noun for one hit.
        is_lower_bound: whether there may be more hits than `total_count`.
        plural: the plural of the noun; if empty, `matches`, or else the singular with an `s`.
    """
    all_hits = ("at least " if is_lower_bound else "") + format_count(
        total_count, singular, plural or ("matches" if singular == "match" else None)
    )
    if (shown_count == total_count and not is_lower_bound) or not shown_count:
        return f"{all_hits[0].upper()}{all_hits[1:]}"
    return f"Showing {f'{offset + 1:,} to {offset + shown_count:,}' if offset else f'{shown_count:,}'} of {all_hits}"


def list_examples(names: Sequence[str], max_count: int) -> str:
    """Return the first names, and the number of the others: `a, b and 3 more`."""
    more = f" and {len(names) - max_count:,} more" if len(names) > max_count else ""
    return ", ".join(names[:max_count]) + more


def format_more_hits_hint(shown_count: int, total_count: int, offset: int = 0) -> str:
    """Return a hint such as " Show more with --size 100."; an empty string if the last hit is shown."""
    if offset + shown_count >= total_count or not shown_count:
        return ""
    return f" Show more with --size {max(100, 10 ** len(str(total_count - 1)))}."


def format_bytes(count: int) -> str:
    """Format a number of bytes with about three digits: "1.5 kB"."""
    size, unit = float(count), 0
    while size >= 999.5 and unit < len(_BYTE_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_BYTE_UNITS[unit]}" if size >= 10 or not unit else f"{size:.1f} {_BYTE_UNITS[unit]}"


def _is_visible(character: str) -> bool:
    return (character.isprintable() or character == " ") and character not in _INVISIBLE_CHARACTERS


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start : start + 2].hex()}" for start in range(0, len(units), 2))


def command_line(store: str, command: str, *arguments: str) -> str:
    """Return a command line to copy, with `--store` if the store is not the default, and is not in memory."""
    is_default = store in (DEFAULT_STORE, str(Path(DEFAULT_STORE)), ":memory:", os.environ.get("SIMDOC_STORE"))
    return quote_command(command, *arguments, *([] if is_default else ["--store", safe_message(store)]))


def quote_command(*arguments: str) -> str:
    """Return a command line of simdoc-search to copy."""
    if os.name == "nt":
        return " ".join(["simdoc-search", *(f'"{text}"' if " " in text else text for text in arguments)])
    return " ".join(["simdoc-search", *map(_quote, arguments)])


def _quote(argument: str) -> str:
    """Return an argument for a shell. Bash and zsh read the escapes of control characters and invisible characters."""
    if printable(argument) == argument:
        return shlex.quote(argument)
    escaped = ("\\" * (c in "\\'") + c if _is_visible(c) else f"\\U{ord(c):08x}" for c in argument)
    return f"$'{''.join(escaped)}'"
