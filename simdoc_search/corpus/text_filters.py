"""What of a file is left out of its text: front matter, whose keys are metadata then; what replies quote."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from simdoc_search.corpus.formats import document_format
from simdoc_search.documents import Document, MetadataValue
from simdoc_search.errors import MissingExtraError
from simdoc_search.small_files import parse_toml

FRONT_MATTER, QUOTED_REPLIES = "front-matter", "quoted-replies"

_MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".mdown", ".qmd", ".rmd"})
_MAILS = frozenset({".eml", ".msg"})
_YAML = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(.*?)(?:^|(?<=\n))\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LONGEST = 1 << 16  # characters of front matter
_LONGEST_KEY, _LONGEST_VALUE, _MOST_VALUES = 100, 2_000, 1_000
_MOST_DATES = 20
_DATE_LINE = re.compile(
    r"^([A-Za-z][\w-]{0,40})[ \t]{0,9}[:=][ \t]{0,9}[\"']?(\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{4,30})?)[\"']?[ \t]*\r?$",
    re.MULTILINE,
)
_NEVER = frozenset({"path"})
"""By what a document is filtered and named: no file may say that of itself."""

_LONGEST_WROTE = 400
_QUOTE = re.compile(r"[ \t]{0,3}>")
_ON_A_DATE = re.compile(r"\s*(?:(On|At)|Am|Den|Op|Le|El|Il|Em|Na|W dniu|Dnia)\b\D*\d")
_WROTE = re.compile(r"\bwrote\s?:\s*\Z")
_WROTE_ELSEWHERE = re.compile(
    r"\b(?:schrieb.*|skrev.*|schreef.*|a écrit|escribió|ha scritto|escreveu|napisał.*)\s?:\s*\Z"
)
_ORIGINAL = re.compile(
    r"\s*-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original)\s*-{2,}\s*"
)


def check_can_leave_out(parts: Collection[str]) -> None:
    """Refuse what cannot be done here.

    Raises:
        MissingExtraError: PyYAML is not installed, and front matter is to be left out.
    """
    if FRONT_MATTER in parts:
        try:
            import yaml  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            raise MissingExtraError("--front-matter skip", "frontmatter") from error


def without_parts(document: Document, path: Path, parts: Collection[str]) -> Document:
    """A document that was read from a file, without some parts.

    Front matter that is not of its form, or too long, stays. Its keys are metadata, where they are numbers, texts,
    dates, truth values, or lists of such. If front matter is kept, its dates are metadata all the same.
    """
    if path.suffix.lower() in _MARKDOWN:
        found = _front_matter(document.text) if FRONT_MATTER in parts else None
        if found is not None:
            text, keys = found
            return replace(document, text=text, metadata={**keys, **document.metadata})
        if FRONT_MATTER not in parts and (dates := _dates(document.text)):
            return replace(document, metadata={**dates, **document.metadata})
    if QUOTED_REPLIES in parts and document_format(path) in _MAILS:
        return replace(document, text="\n".join(_own_lines(document.text.splitlines())))
    return document


def _front_matter(text: str) -> tuple[str, dict[str, MetadataValue]] | None:
    for pattern, parsed in ((_YAML, _of_yaml), (_TOML, _of_toml)):
        if found := pattern.match(text[:_LONGEST]):
            keys = parsed(found[1])
            return None if keys is None else (text[found.end() :], dict(_metadata(keys)))
    return None


def _dates(text: str) -> dict[str, MetadataValue]:
    """The keys of front matter whose values are dates as in ISO 8601; PyYAML is not needed for these."""
    found = _YAML.match(text[:_LONGEST]) or _TOML.match(text[:_LONGEST])
    return dict(_DATE_LINE.findall(found[1])[:_MOST_DATES]) if found else {}


def _of_yaml(text: str) -> Mapping[Any, Any] | None:
    """Without aliases, by which a few lines become gigabytes. None: the text is not a mapping in YAML."""
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("an alias")
            return super().compose_node(parent, index)

    try:
        found = yaml.load(text, Loader) if text.strip() else {}  # noqa: S506 - a safe one
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None  # the loader raises some of these for a value that does not fit its tag, such as `!!bool x`
    return found if isinstance(found, Mapping) else None


def _of_toml(text: str) -> Mapping[Any, Any] | None:
    try:
        return parse_toml(text)
    except ValueError:
        return None


def _metadata(keys: Mapping[Any, Any]) -> Iterator[tuple[str, MetadataValue]]:
    for key, value in keys.items():
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or key in _NEVER:
            continue
        if isinstance(value, list):
            some = [_plain(each) for each in value[:_MOST_VALUES]]
            yield key, [str(each) for each in some if each is not None]
        elif (said := _plain(value)) is not None:
            yield key, said


def _plain(value: object) -> str | int | float | bool | None:
    if isinstance(value, date):  # a datetime too
        return value.isoformat()
    if isinstance(value, str):
        return value[:_LONGEST_VALUE]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - not a number
        return None
    return value if isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 1 << 63) else None


def _own_lines(lines: list[str]) -> Iterator[str]:
    """The lines that the sender wrote: none that is quoted, nor who wrote it when, nor an original message below."""
    at = 0
    while at < len(lines):
        if _ORIGINAL.fullmatch(lines[at]):
            return
        length = _said_who(lines, at)
        if length:
            after = next((lines[below] for below in range(at + length, len(lines)) if lines[below].strip()), "")
            if not _QUOTE.match(after):  # what is quoted has no sign: it is all that comes
                return
            at += length
        elif _QUOTE.match(lines[at]):
            at += 1
        else:
            yield lines[at]
            at += 1


def _said_who(lines: list[str], at: int) -> int:
    """Of how many lines from here on `On Monday, 2 March 2020, Ada wrote:` is; mail programs wrap it."""
    for length in (1, 2) if lines[at].strip() else ():
        said = " ".join(lines[at : at + length])
        if len(said) <= _LONGEST_WROTE and (date := _ON_A_DATE.match(said)):
            wrote = _WROTE if date[1] else _WROTE_ELSEWHERE
            if wrote.search(said, date.end()):
                return length
    return 0
