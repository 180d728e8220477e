"""Reads the values of a request from its query string, a form or a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.types import Message, Receive

from simdoc_search.display import quote_command
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.syntax import parse_percentage
from simdoc_search.stores.filters import none_of
from simdoc_search.web.local_access import LocalAccess
from simdoc_search.web.request_limits import MAX_BODY_BYTES, MAX_HITS, MAX_OFFSET, MAX_VALUE_CHARACTERS, MAX_VALUES

if TYPE_CHECKING:
    from simdoc_search.passages.exact_overlap import MeasureName
    from simdoc_search.web.served_store import ServedStore

RequestValues = dict[str, list[str]]
Uploads = dict[str, "Upload"]
"""The uploaded files by the names of their form fields."""

_LONG_VALUES = ("text", "ignore_text")
"""The values that may have more than `MAX_VALUE_CHARACTERS` characters."""

_FILE_FIELDS = ("file", "ignore_file")

_QUERY_PATHS = frozenset(
    {"/document", "/similar", "/passages", "/versions", "/related", "/concepts", "/compare", "/file"}
)
"""The pages about a document of the store, or about a text."""

_DEFAULT_HITS = 10
_SCORE_PATTERN = re.compile(r"0?\.[0-9]{1,9}|0|1(?:\.0{1,9})?")
_TRUE_VALUES, _FALSE_VALUES = ("1", "on", "true", "yes"), ("", "0", "off", "false", "no")
_MAX_QUOTED_CHARACTERS = 400  # maximum number of characters of a wrong value that a message quotes

MultiPartParser.spool_max_size = MAX_BODY_BYTES  # an uploaded document must not be written to disk


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file. It is kept only in memory."""

    name: str
    data: bytes


async def read_values(request: Request, *, max_bytes: int = MAX_BODY_BYTES) -> tuple[RequestValues, Uploads]:
    """Return the values of a request by name, and the uploaded files.

    Values in the body replace values of the same name in the query string.
    """
    values: RequestValues = {}
    for name, value in request.query_params.multi_items():
        values.setdefault(name, []).append(value)
    uploads: Uploads = {}
    if request.method == "POST":
        body_values, uploads = await _read_body(Request(request.scope, _limit_body(request.receive, max_bytes)))
        values |= body_values
    if sum(map(len, values.values())) > MAX_VALUES:
        raise HTTPException(413, f"the request has more than {MAX_VALUES:,} values; send fewer")
    for name, texts in values.items():
        length = max(len(name), 0 if name in _LONG_VALUES else max(map(len, texts), default=0))
        if length > MAX_VALUE_CHARACTERS:
            raise HTTPException(
                413,
                f"{name[:40]!r} has {length:,} characters; only {' and '.join(map(repr, _LONG_VALUES))} may have more "
                f"than {MAX_VALUE_CHARACTERS:,}",
            )
    return values, uploads


def _limit_body(receive: Receive, max_bytes: int) -> Receive:
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > max_bytes:
            raise HTTPException(
                413, f"the request body is larger than {max_bytes:,} bytes; send a smaller file or a shorter text"
            )
        return message

    return receive_limited


async def _read_body(request: Request) -> tuple[RequestValues, Uploads]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "application/json":
        return await anyio.to_thread.run_sync(_json_values, await request.body()), {}
    if media_type not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        if await request.body():
            allowed = "application/json, application/x-www-form-urlencoded or multipart/form-data"
            raise HTTPException(415, f"the media type must be {allowed}, not {media_type[:_MAX_QUOTED_CHARACTERS]!r}")
        return {}, {}
    values: RequestValues = {}
    uploads: Uploads = {}
    async with request.form(max_files=len(_FILE_FIELDS), max_fields=MAX_VALUES, max_part_size=MAX_BODY_BYTES) as form:
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                values.setdefault(name, []).append(value)
            elif name not in _FILE_FIELDS or name in uploads:
                raise HTTPException(400, f"send one file, in the field {' or '.join(map(repr, _FILE_FIELDS))}")
            elif value.filename:  # a browser sends an empty name if no file was chosen
                uploads[name] = Upload(value.filename, await value.read())
    return values, uploads


def _json_values(body: bytes) -> RequestValues:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request body is not valid JSON; send a JSON object") from None
    if not isinstance(values, dict):
        raise HTTPException(400, 'the request body must be a JSON object, such as {"text": "...", "overlap": 20}')
    lists = {name: value if isinstance(value, list) else [value] for name, value in values.items() if value is not None}
    return {name: [_as_text(name, item) for item in items] for name, items in lists.items()}


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise HTTPException(400, f"the value of {name[:40]!r} must be a string, a number, a boolean, or a list of these")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page. Its methods raise QuerySyntaxError if a value is malformed or out of range."""

    served_store: ServedStore  # the store whose documents are served
    path: str  # the path of the URL without `.json`
    wants_json: bool = False  # whether the response must be JSON
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the values of the request by name
    # the uploaded files by the names of their fields: `file` is the query, and the words of `ignore_file` are ignored
    uploads: Mapping[str, Upload] = field(default_factory=dict)
    # the features for requests from this computer. None for other requests, or if they are not offered.
    local: LocalAccess | None = None

    @property
    def has_text(self) -> bool:
        """Whether the request contains a text or a file."""
        return "file" in self.uploads or bool(self.value("text").strip())

    @property
    def section(self) -> str:
        """The path of the entry in the menu that the page belongs to."""
        if self.path in _QUERY_PATHS:
            names_document = any(self.value(name).strip() for name in ("q", "id", "a"))
            return "/documents" if names_document and not self.has_text else "/"
        return f"/{self.path.split('/')[1]}"

    def value(self, name: str, default: str = "") -> str:
        """Return the last value with this name."""
        return next(reversed(self.values.get(name, ())), default)

    def all_values(self, name: str) -> list[str]:
        """Return all values with this name that are not blank."""
        return [value for value in self.values.get(name, ()) if value.strip()]

    def integer(self, name: str, default: int, minimum: int, maximum: int) -> int:
        """Return a whole number from `minimum` to `maximum`, or the default if the value is missing or blank."""
        text = self.value(name).strip()
        if not text:
            return default
        digits = text.lstrip("0")[:12] or "0"
        if not (text.isascii() and text.isdigit()) or not minimum <= int(digits) <= maximum:
            raise _wrong_value_error(name, f"a whole number from {minimum:,} to {maximum:,}", text)
        return int(digits)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return one of several choices. The first one is the default."""
        text = self.value(name).strip() or choices[0]
        if text not in choices:
            raise _wrong_value_error(name, f"one of {', '.join(choices)}", text)
        return text

    def is_on(self, name: str) -> bool:
        """Return whether an option is on."""
        text = self.value(name).strip().lower()
        if text not in (*_TRUE_VALUES, *_FALSE_VALUES):
            raise _wrong_value_error(name, "on or off", text)
        return text in _TRUE_VALUES

    def percent(self, name: str) -> Fraction | None:
        """Return a percentage as a fraction, or None if the value is missing."""
        text = self.value(name).strip()
        return parse_percentage(text[:_MAX_QUOTED_CHARACTERS], name) if text else None

    def score(self, name: str) -> float | None:
        """Return a number from 0 to 1, or None if the value is missing."""
        text = self.value(name).strip()
        if text and not _SCORE_PATTERN.fullmatch(text):
            raise _wrong_value_error(name, "a number from 0 to 1", text)
        return float(text) if text else None

    def filters(self) -> list[dict[str, Any]]:
        """Return the values `filter` and `exclude` in the form of the argument `filters` of the search methods."""
        included = [{key: value} for key, value in self._pairs("filter")]
        return included + [{key: none_of(value)} for key, value in self._pairs("exclude")]

    def _pairs(self, name: str) -> list[tuple[str, str]]:
        pairs = []
        for text in self.all_values(name):
            key, equals, value = text.partition("=")
            if not equals or not key.strip():
                raise _wrong_value_error(name, "FIELD=VALUE, such as language=de or path=reports/", text)
            pairs.append((key.strip(), value.strip()))
        return pairs

    @property
    def size(self) -> int:
        """The number of hits per page."""
        return self.integer("size", _DEFAULT_HITS, 1, MAX_HITS)

    @property
    def offset(self) -> int:
        """The number of hits before this page."""
        return self.integer("offset", 0, 0, MAX_OFFSET)

    def neighbour_page_offsets(self, shown_count: int, total: int | None = None) -> tuple[int | None, int | None]:
        """Return the offsets of the previous and the next page. An offset is None if its page does not exist."""
        before = max(self.offset - self.size, 0) if self.offset else None
        after = self.offset + self.size
        is_last = shown_count < self.size or (total is not None and after >= total)
        return before, None if is_last or after > MAX_OFFSET else after

    @property
    def measure(self) -> MeasureName:
        """The measure of overlap."""
        return cast("MeasureName", self.choice("measure", ("jaccard", "containment", "reverse_containment")))

    @property
    def preset(self) -> Literal["edited", "verbatim"]:
        """The preset for shared passages."""
        return cast('Literal["edited", "verbatim"]', self.choice("preset", ("edited", "verbatim")))

    def command_line(self, *arguments: str) -> str:
        """Return a command line of simdoc-search.

        For a browser on this computer, it names the store. Other computers must not see the location of the store.
        """
        return self.local.command(*arguments) if self.local else quote_command(*arguments)


def _wrong_value_error(name: str, expected: str, text: str) -> QuerySyntaxError:
    return QuerySyntaxError(f"{name} must be {expected}, not {text[:_MAX_QUOTED_CHARACTERS]!r}")
