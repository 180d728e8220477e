"""Helpers of the tests that read random input."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from simdoc_search.corpus import Document, SkippedFile
from tests.support.slow_cases import examples

__all__ = ["damaged", "fuzzing", "is_text", "is_valid_item", "mixed", "value_or_none"]

Made = TypeVar("Made")

fuzzing = settings(examples(2), suppress_health_check=[HealthCheck.too_slow])


def mixed(pieces: list[bytes]) -> st.SearchStrategy[bytes]:
    """Random bytes, mixed with pieces that have a meaning for the reader."""
    return st.lists(st.sampled_from(pieces) | st.binary(max_size=12), max_size=16).map(b"".join) | st.binary()


def value_or_none(make: Callable[[], Made], *errors: type[Exception]) -> Made | None:
    """Return the value, or None after a documented error. The error must have a message."""
    try:
        return make()
    except errors as error:
        message = str(error)
    assert message.strip()
    return None


def is_text(text: object) -> bool:
    """Return whether a value is None or a string that can be encoded in UTF-8."""
    return text is None or (isinstance(text, str) and text == text.encode().decode())


def is_valid_item(document: object, name: str) -> bool:
    """Return whether an item is a valid document, or a `SkippedFile` with file, line and reason."""
    if isinstance(document, SkippedFile):
        place = document.path.removeprefix(f"{name}:")
        return place.isdigit() and bool(document.reason) and "\n" not in document.reason
    return isinstance(document, Document) and 1 <= len(document.id.encode()) <= 512 and is_text(document.text)


def damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """A file with a few wrong bytes, or without its end."""
    change = st.tuples(st.integers(0, len(data) - 1), st.binary(min_size=1, max_size=8))

    def write(changes: list[tuple[int, bytes]], end: int) -> bytes:
        changed = bytearray(data)
        for begin, some in changes:
            changed[begin : begin + len(some)] = some
        return bytes(changed[:end])

    return st.builds(write, st.lists(change, max_size=4), st.just(len(data)) | st.integers(0, len(data)))
