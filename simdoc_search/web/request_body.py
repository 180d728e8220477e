"""The body of a request: bounded in size and time, and held in memory alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from starlette.requests import ClientDisconnect, Request

from simdoc_search.web.limits import BODY_BYTES, BODY_RATE, BODY_SECONDS, FIRST_SECONDS, TEXT_BYTES


class BodyError(Exception):
    """A body that is not taken: the status of HTTP, and why in a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it came.

    Attributes:
        kind: the header `Content-Type`.
        data: all of it.
    """

    kind: str
    data: bytes


class Memory:
    """Memory that requests share: one that finds too little is refused, before many large ones take all there is.

    Args:
        size: bytes for all of them.
    """

    def __init__(self, size: int) -> None:
        self._free = size

    def take(self, size: int) -> None:
        """Reserve some bytes.

        Raises:
            BodyError: there are not so many.
        """
        if size > self._free:
            raise BodyError(503, "too much is sent or asked for at once; try again in a moment")
        self._free -= size

    def give_back(self, size: int) -> None:
        """Release some bytes that were taken."""
        self._free += size

    @contextmanager
    def reserved(self) -> Iterator[Callable[[int], None]]:
        """The function `take`; what it reserves is released at the end of the block."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            self.take(size)
            mine += size

        try:
            yield take
        finally:
            self.give_back(mine)


async def read_body(request: Request, take: Callable[[int], None], limit: int = BODY_BYTES) -> Body:
    """Read the body of a request.

    Args:
        request: the request.
        take: reserves memory; see `Memory.reserved`.
        limit: bytes of the whole body.

    Raises:
        BodyError: it is too large, too slow, or encoded.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise BodyError(415, "send the body as it is, without Content-Encoding")
    too_large = BodyError(413, f"the body is larger than {min(limit, TEXT_BYTES):,} bytes; send a shorter text")
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > limit:
        raise too_large
    data = bytearray()
    began = anyio.current_time()
    try:
        with anyio.fail_after(FIRST_SECONDS) as waiting:
            async for piece in request.stream():
                if len(data) + len(piece) > limit:
                    raise too_large
                take(len(piece))
                data += piece
                waiting.deadline = began + min(FIRST_SECONDS + len(data) / BODY_RATE, BODY_SECONDS)
    except TimeoutError:
        raise BodyError(408, f"the body came too slowly; send it within {BODY_SECONDS:.0f} seconds") from None
    except ClientDisconnect:
        raise BodyError(400, "the connection was closed") from None
    return Body(request.headers.get("content-type", ""), bytes(data))
