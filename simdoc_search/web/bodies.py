"""What comes with a request: bounded in size and time, and held in memory alone."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from simdoc_search.web.asked import Upload
from simdoc_search.web.texts import MOST_BYTES

__all__ = ["BodyError", "Room", "Values", "read_body"]

SECONDS = 60.0
_ROOM = 100_000  # for what stands around a file
_FIELDS = 10_000

Values = dict[str, list[str]]


class BodyError(Exception):
    """A body that is not taken: the status of HTTP, and why in a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Room:
    """The memory for all bodies at a time: who finds none comes again, before many large ones take all there is."""

    def __init__(self, most: int = 10 * MOST_BYTES) -> None:
        self._free = most

    @contextmanager
    def taken(self) -> Iterator[Callable[[int], None]]:
        """What takes so many bytes more, each time it is called, until the end of the block."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            if size > self._free:
                raise BodyError(503, "too many texts come in at once; send it again in a moment")
            self._free -= size
            mine += size

        try:
            yield take
        finally:
            self._free += mine


class _InMemory(MultiPartParser):
    """No file of a form is ever written to disk."""

    spool_max_size = MOST_BYTES + _ROOM + 1


async def read_body(
    request: Request, take: Callable[[int], None], most: int = MOST_BYTES + _ROOM
) -> tuple[Values, Upload | None]:
    """The values and the file of a form, or of a JSON object.

    Args:
        request: which brings it.
        take: takes the memory; see `Room.taken`.
        most: bytes of the whole body.

    Raises:
        BodyError: it is too large, too slow, or of no form that is understood.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _bounded(request, take, most)
    if kind == "application/json":
        return _of_json(body), None
    if not body and not kind:
        return {}, None
    try:
        if kind == "multipart/form-data":
            parser = _InMemory(request.headers, _once(body), max_files=1, max_fields=_FIELDS, max_part_size=MOST_BYTES)
            return await _of_form(await parser.parse())
        if kind == "application/x-www-form-urlencoded":
            return await _of_form(await FormParser(request.headers, _once(body)).parse())
    except (MultiPartException, KeyError, ValueError) as error:
        raise BodyError(400, f"the form is malformed: {getattr(error, 'message', error)}") from None
    raise BodyError(415, "send a form (application/x-www-form-urlencoded, multipart/form-data) or application/json")


async def _bounded(request: Request, take: Callable[[int], None], most: int) -> bytes:
    taken = min(most, MOST_BYTES)
    too_large = BodyError(413, f"that is more than the {taken:,} bytes that are taken; send a shorter text")
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        raise too_large
    body = bytearray()
    try:
        with anyio.fail_after(SECONDS):
            async for piece in request.stream():
                if len(body) + len(piece) > most:
                    raise too_large
                take(len(piece))
                body += piece
    except TimeoutError:
        raise BodyError(408, f"the text did not come within {SECONDS:.0f} seconds; send it again") from None
    except ClientDisconnect:
        raise BodyError(400, "the connection was closed") from None
    return bytes(body)


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body
    yield b""


async def _of_form(form: FormData) -> tuple[Values, Upload | None]:
    values: Values = {}
    upload = None
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            values.setdefault(name, []).append(value)
        elif value.filename:  # a browser sends a file without a name where none was chosen
            upload = Upload(value.filename, await value.read())
    await form.close()
    return values, upload


def _of_json(body: bytes) -> Values:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise BodyError(400, "the body is no JSON") from None
    if not isinstance(found, dict):
        raise BodyError(400, 'the JSON must be an object, like {"text": "...", "overlap": 20}')
    return {name: [_said(name, each) for each in (value if isinstance(value, list) else [value])]
            for name, value in found.items() if value is not None}  # fmt: skip


def _said(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise BodyError(400, f"{name[:40]!r} must be a text, a number, true, false, or a list of these")
