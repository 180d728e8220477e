"""How is shown what others wrote? Nothing of it steers a terminal or hides, and no secret is repeated.

Ids, paths, metadata, messages of engines, and what a person mistyped: all of it may be hostile, or hold a password.
"""

from __future__ import annotations

import re

# Beside what Python calls unprintable (control, bidirectional, zero-width, tag and private characters, surrogates,
# all spaces but the plain one): letters and marks that show nothing.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)

_UNITS = ("bytes", "kB", "MB", "GB", "TB")

_SCHEME = r"(?P<scheme>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]+:/+)"
_NOT_A_PORT = r"(?!\d{1,5}(?:[/,\s]|$))"
_SECRETS = (
    re.compile(rf"{_SCHEME}[^\s/:@]*:{_NOT_A_PORT}\S*@"),  # a password may hold a slash or another @
    re.compile(rf"{_SCHEME}[^\s/@]*@"),
    re.compile(r"(?P<scheme>(?<![\w./\\-]))[^\s/\\:@'\"(]+:" + _NOT_A_PORT + r"[^\s/\\@]\S*@"),
)


def harmless(text: str) -> str:
    """A message in one line, for a terminal."""
    return printable(without_secrets(text))


def printable(text: str) -> str:
    r"""A text in which control, bidirectional, zero-width and other invisible characters are shown as `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _shows(c) else c.encode("unicode_escape").decode() for c in text)


def harmless_json(text: str) -> str:
    r"""JSON in which the same characters are written as `\u001b`; it means what it meant."""
    if text.isascii() and "\x7f" not in text:  # JSON escapes the other control characters itself
        return text
    return "".join(c if _shows(c) or c == "\n" else _json_escape(c) for c in text)


def without_secrets(text: str) -> str:
    """A message without what stands before the `@` of addresses: `http://user:password@host` is `http://host`."""
    before = None
    while "@" in text and before != text:
        before = text
        for pattern in _SECRETS:
            text = pattern.sub(r"\g<scheme>", text)
    return text


def without_credentials(address: str) -> str:
    """One address alone without user, password and query, whatever characters they hold."""
    scheme, slashes, rest = address.partition("://")
    if not slashes:
        scheme, rest = "", address
    places, slash, path = re.split("[?#]", rest.rpartition("@")[2])[0].partition("/")
    places = re.sub(rf"(?<=[^\[:]):{_NOT_A_PORT}[^:,\]]+(?=,|$)", ":…", places)  # a password without its @
    return f"{scheme}{slashes}{places}{slash}{path}"


def percent(share: float, digits: int = 1) -> str:
    """A share 0..1 in percent: 100 only if it is all, and 0 only if it is nothing."""
    step = 10.0**-digits
    if 0 < share < step / 200:
        return f"<{step:g} %"
    return f"{share * 100 if share >= 1 else min(share * 100, 100 - step):.{digits}f} %"


def estimate(share: float) -> str:
    """An estimated share 0..1 in whole percent, with a tilde, as its error is more than what follows the point."""
    shown = percent(share, 0)
    return shown if shown.startswith("<") else f"~{shown}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 token", "2 tokens"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def documents_compared(compared: int, candidates: int) -> str:
    """How many documents an answer comes from, and of how many that could be in it."""
    of_all = f" of {candidates:,} that have something in common with it" if compared < candidates else ""
    return counted(compared, "document") + " compared" + of_all


def showing(
    shown: int, total: int, offset: int = 0, what: str = "match", *, at_least: bool = False, many: str = ""
) -> str:
    """Which of all hits are shown: "Showing 10 of 81 matches", or "4 matches" if these are all.

    Args:
        shown: how many are shown.
        total: how many there are.
        offset: how many come before them.
        what: what one hit is called.
        at_least: whether there may be more than `total`.
        many: what several are called; empty: `what` with an s.
    """
    there = ("at least " if at_least else "") + counted(total, what, many or ("matches" if what == "match" else None))
    if (shown == total and not at_least) or not shown:
        return f"{there[0].upper()}{there[1:]}"
    return f"Showing {f'{offset + 1:,} to {offset + shown:,}' if offset else f'{shown:,}'} of {there}"


def show_more(shown: int, total: int, offset: int = 0, *, option: str = "--size") -> str:
    """How to see the other hits: " Show more with --size 100."; empty if there are none after those that are shown."""
    if offset + shown >= total or not shown:
        return ""
    return f" Show more with {option} {max(100, 10 ** len(str(total - 1)))}."


def size_said(count: int) -> str:
    """A number of bytes: three digits or so."""
    size, unit = float(count), 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if size >= 10 or not unit else f"{size:.1f} {_UNITS[unit]}"


def _shows(character: str) -> bool:
    return (character.isprintable() or character == " ") and character not in _INVISIBLE


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
