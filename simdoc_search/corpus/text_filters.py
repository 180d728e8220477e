"""Removes front matter and quoted replies from texts. The keys of front matter become metadata."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date
from math import isfinite
from typing import Any

from simdoc_search.corpus.formats import FileFormat
from simdoc_search.documents import Document, MetadataValue
from simdoc_search.errors import MissingExtraError
from simdoc_search.small_files import parse_toml

FRONT_MATTER, QUOTED_REPLIES = "front-matter", "quoted-replies"

_YAML_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML_FRONT_MATTER = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(.*?)(?:^|(?<=\n))\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_MAX_FRONT_MATTER_CHARACTERS = 1 << 16
_MAX_KEY_CHARACTERS, _MAX_VALUE_CHARACTERS, _MAX_LIST_VALUES, _MAX_DATES = 100, 2_000, 1_000, 20
_DATE_LINE = re.compile(
    r"^([A-Za-z][\w-]{0,40})[ \t]{0,9}[:=][ \t]{0,9}[\"']?(\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{4,30})?)[\"']?[ \t]*\r?$",
    re.MULTILINE,
)
_RESERVED_KEYS = frozenset({"path"})  # metadata from front matter must not change what the filter `path` matches

_MAX_ATTRIBUTION_CHARACTERS = 400
_QUOTED_LINE = re.compile(r"[ \t]{0,3}>")
_ATTRIBUTION_START = re.compile(r"\s*(?:(On|At)|Am|Den|Op|Le|El|Il|Em|Na|W dniu|Dnia)\b\D*\d")
_ATTRIBUTION_END = re.compile(r"\bwrote\s?:\s*\Z")
_ATTRIBUTION_END_IN_OTHER_LANGUAGES = re.compile(
    r"\b(?:schrieb.*|skrev.*|schreef.*|a écrit|escribió|ha scritto|escreveu|napisał.*)\s?:\s*\Z"
)
_ORIGINAL_MESSAGE = re.compile(
    r"\s*-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original)\s*-{2,}\s*"
)


def require_front_matter_parser(removed_parts: Collection[str]) -> None:
    """Raise a MissingExtraError if PyYAML is needed for front matter and not installed."""
    if FRONT_MATTER in removed_parts:
        try:
            import yaml  # noqa: F401, PLC0415 - an optional dependency
        except ImportError as error:
            raise MissingExtraError("--front-matter skip", "frontmatter") from error


def remove_parts(document: Document, format: FileFormat, removed_parts: Collection[str]) -> Document:
    """Remove parts from a document that was read from a file.

    The keys of removed front matter become metadata if their values are numbers, strings, dates, booleans or lists of
    these. Front matter that is invalid or too long is kept, and its keys do not become metadata. If `removed_parts`
    does not contain `FRONT_MATTER`, all front matter is kept, and only its dates become metadata.
    """
    if format.kind == "markdown" and FRONT_MATTER in removed_parts:
        return _remove_front_matter(document)
    if format.kind == "markdown":
        beginning = document.text[:_MAX_FRONT_MATTER_CHARACTERS]
        match = _YAML_FRONT_MATTER.match(beginning) or _TOML_FRONT_MATTER.match(beginning)
        dates = dict(_DATE_LINE.findall(match[1])[:_MAX_DATES]) if match else {}
        return replace(document, metadata={**dates, **document.metadata}) if dates else document
    if format.is_mail and QUOTED_REPLIES in removed_parts:
        return replace(document, text="\n".join(_own_lines(document.text.splitlines())))
    return document


def _remove_front_matter(document: Document) -> Document:
    for pattern, parse in ((_YAML_FRONT_MATTER, _parse_yaml), (_TOML_FRONT_MATTER, _parse_toml)):
        if match := pattern.match(document.text[:_MAX_FRONT_MATTER_CHARACTERS]):
            front_matter = parse(match[1])
            if front_matter is None:
                return document
            metadata = {**dict(_select_metadata(front_matter)), **document.metadata}
            return Document(document.id, document.text[match.end() :], metadata)
    return document


def _parse_yaml(text: str) -> Mapping[Any, Any] | None:
    """Parse a YAML mapping. Return None for other YAML, and for YAML with aliases, which can expand to gigabytes."""
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("an alias")
            return super().compose_node(parent, index)

    try:
        front_matter = yaml.load(text, Loader) if text.strip() else {}  # noqa: S506 - `Loader` is a SafeLoader
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None  # the YAML loader raises some of these errors if a value does not fit its tag, as in `!!bool x`
    return front_matter if isinstance(front_matter, Mapping) else None


def _parse_toml(text: str) -> Mapping[Any, Any] | None:
    try:
        return parse_toml(text)
    except ValueError:
        return None


def _select_metadata(front_matter: Mapping[Any, Any]) -> Iterator[tuple[str, MetadataValue]]:
    for key, value in front_matter.items():
        if not isinstance(key, str) or not 0 < len(key) <= _MAX_KEY_CHARACTERS or key in _RESERVED_KEYS:
            continue
        if isinstance(value, list):
            values = [_to_scalar(inner) for inner in value[:_MAX_LIST_VALUES]]
            yield key, [str(inner) for inner in values if inner is not None]
        elif (scalar := _to_scalar(value)) is not None:
            yield key, scalar


def _to_scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, date):  # a datetime is also a date
        return value.isoformat()
    if isinstance(value, str):
        return value[:_MAX_VALUE_CHARACTERS]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, int) and abs(value) < 1 << 63 else None


def _own_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines that the sender wrote. Quotes, their attributions and copies of original messages are omitted."""
    index = 0
    while index < len(lines):
        if _ORIGINAL_MESSAGE.fullmatch(lines[index]):
            return
        length = _count_attribution_lines(lines, index)
        if length:
            after = next((lines[line] for line in range(index + length, len(lines)) if lines[line].strip()), "")
            if not _QUOTED_LINE.match(after):  # if quoted lines do not begin with >, the quote extends to the end
                return
            index += length
        elif _QUOTED_LINE.match(lines[index]):
            index += 1
        else:
            yield lines[index]
            index += 1


def _count_attribution_lines(lines: list[str], start: int) -> int:
    """Return the number of lines, 0 to 2, of an attribution such as `On 2 March 2020, Ada wrote:` at `start`."""
    for length in (1, 2) if lines[start].strip() else ():
        text = " ".join(lines[start : start + length])
        if len(text) <= _MAX_ATTRIBUTION_CHARACTERS and (match := _ATTRIBUTION_START.match(text)):
            wrote = _ATTRIBUTION_END if match[1] else _ATTRIBUTION_END_IN_OTHER_LANGUAGES
            if wrote.search(text, match.end()):
                return length
    return 0
