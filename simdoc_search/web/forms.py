"""What a body says: the values of a form or of a JSON object, and a file.

It is read in a thread. No value costs more than its bytes: they are counted before they are made, JSON is not nested,
and no file is written to disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from simdoc_search.web.limits import PART_HEAD_BYTES, VALUE_LETTERS, VALUES
from simdoc_search.web.request import Upload
from simdoc_search.web.request_body import Body, BodyError

Values = dict[str, list[str]]

_PIECE = 1 << 16
_SPACE = re.compile(r"[ \t\n\r]*")
_JSON = json.JSONDecoder(parse_int=str)  # a number of a million digits is not computed


def values_of(body: Body) -> tuple[Values, Upload | None]:
    """The values of a form or of a JSON object, and the file that came along.

    Raises:
        BodyError: it is malformed, of another kind, or has too many values.
    """
    kind = body.kind.partition(";")[0].strip().lower()
    if not body.data and not kind:
        return {}, None
    if kind == "application/json":
        return _of_json(body.data), None
    if kind == "application/x-www-form-urlencoded":
        return _of_pairs(body.data), None
    if kind == "multipart/form-data":
        return _Parts().read(body)
    raise BodyError(415, "send a form (application/x-www-form-urlencoded, multipart/form-data) or application/json")


def check_values(values: Mapping[str, list[str]]) -> None:
    """Refuse a value that is too long, unless it is a text.

    Raises:
        BodyError: there is one.
    """
    for name, given in values.items():
        longest = max(len(name), 0 if name == "text" else max(map(len, given), default=0))
        if longest > VALUE_LETTERS:
            raise BodyError(
                413, f"{name[:40]!r} has {longest:,} characters; {VALUE_LETTERS:,} is the maximum, except for `text`"
            )


def _check_count(count: int) -> None:
    if count > VALUES:
        raise BodyError(413, f"the request has more than {VALUES:,} values; send fewer")


# --- JSON ---


class _Scanner:
    """Reads one value after the other."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._count = text, 0, 0
        self._skip()

    def takes(self, sign: str) -> bool:
        """Whether this sign comes next; it is then passed over."""
        is_next = self._text.startswith(sign, self._at)
        if is_next:
            self._at += len(sign)
            self._skip()
        return is_next

    def expect(self, sign: str) -> None:
        """Pass over a sign that must come next."""
        if not self.takes(sign):
            raise ValueError

    def name(self) -> str:
        """A string."""
        if not self._text.startswith('"', self._at):
            raise ValueError
        return str(self.value())

    def value(self) -> Any:
        """A string, a number, true, false or null; a list or an object is another sign."""
        self._count += 1
        _check_count(self._count)
        if self._text[self._at : self._at + 1] in ("[", "{"):
            raise BodyError(400, "a value must be a text, a number, true, false, or a list of these")
        found, self._at = _JSON.raw_decode(self._text, self._at)
        self._skip()
        return found

    def values(self) -> list[Any] | None:
        """A value, or those of a list; None for null."""
        if not self.takes("["):
            found = self.value()
            return None if found is None else [found]
        if self.takes("]"):
            return []
        several = [self.value()]
        while not self.takes("]"):
            self.expect(",")
            several.append(self.value())
        return several

    def end(self) -> None:
        """Nothing may follow."""
        if self._at < len(self._text):
            raise ValueError

    def _skip(self) -> None:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr] # it matches nothing, too


def _of_json(data: bytes) -> Values:
    try:
        return _of_object(_Scanner(data.decode(json.detect_encoding(data), "surrogatepass")))
    except ValueError:
        raise BodyError(400, "the body is not valid JSON") from None


def _of_object(scanner: _Scanner) -> Values:
    if not scanner.takes("{"):
        raise BodyError(400, 'the JSON must be an object, like {"text": "...", "overlap": 20}')
    values: Values = {}
    if not scanner.takes("}"):
        while True:
            name = scanner.name()
            scanner.expect(":")
            values.pop(name, None)
            if (given := scanner.values()) is not None:
                values[name] = [_as_text(name, each) for each in given]
            if scanner.takes("}"):
                break
            scanner.expect(",")
    scanner.end()
    return values


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | float):
        return str(value)
    raise BodyError(400, f"{name[:40]!r} must be a text, a number, true, false, or a list of these")


# --- forms ---


def _of_pairs(data: bytes) -> Values:
    values: Values = {}
    pairs = data.split(b"&", VALUES)
    _check_count(len(pairs))
    for pair in filter(None, pairs):
        name, _, value = pair.partition(b"=")
        values.setdefault(_unquoted(name), []).append(_unquoted(value))
    return values


def _unquoted(value: bytes) -> str:
    """The text that is meant, made in pieces: an escape takes ten times its memory meanwhile."""
    value = value.replace(b"+", b" ")
    found = bytearray()
    start = 0
    while start < len(value):
        end = start + _PIECE
        escape = value.find(b"%", end - 2, end)  # is not cut
        end = end if escape < 0 else escape
        found += unquote_to_bytes(value[start:end])
        start = end
    return found.decode("utf-8", "replace")


class _Parts:
    """The parts of a multipart form."""

    def __init__(self) -> None:
        self._values: Values = {}
        self._upload: Upload | None = None
        self._count = 0
        self._is_whole = False
        self._begin_part()

    def read(self, body: Body) -> tuple[Values, Upload | None]:
        """The values, and the file; see `values_of`."""
        _, options = parse_options_header(body.kind)
        try:
            parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": self._on_part_end,
                    "on_end": self._on_end,
                },
            )
            parser.write(body.data)
        except KeyError:
            raise BodyError(400, "the form is malformed: a boundary or a name is missing") from None
        except FormParserError as error:
            raise BodyError(400, f"the form is malformed: {error}") from None
        if not self._is_whole:
            raise BodyError(400, "the form is malformed: its end is missing")
        return self._values, self._upload

    def _begin_part(self) -> None:
        self._header, self._value, self._disposition, self._size = b"", b"", b"", 0
        self._name, self._data = "", bytearray()
        self._file: str | None = None

    def _on_part_begin(self) -> None:
        self._count += 1
        _check_count(self._count)
        self._begin_part()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += self._headers(data, start, end)

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += self._headers(data, start, end)

    def _headers(self, data: bytes, start: int, end: int) -> bytes:
        self._size += end - start
        if self._size > PART_HEAD_BYTES:
            raise BodyError(413, f"the headers of a part of the form are larger than {PART_HEAD_BYTES:,} bytes")
        return data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header, self._value = b"", b""

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._name = _decoded(options[b"name"])
        self._file = _decoded(options[b"filename"]) if b"filename" in options else None

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._data += data[start:end]

    def _on_part_end(self) -> None:
        if self._file is None:
            self._values.setdefault(self._name, []).append(_decoded(self._data))
        elif self._file:  # a browser sends a file without a name where none was chosen
            if self._upload is not None:
                raise BodyError(400, "the form has several files; send one")
            self._upload = Upload(self._file, bytes(self._data))

    def _on_end(self) -> None:
        self._is_whole = True


def _decoded(data: bytes | bytearray) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
