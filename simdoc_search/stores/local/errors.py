"""Errors of tantivy and the file system as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from simdoc_search.durable import MAKE_ROOM, is_full
from simdoc_search.errors import SimdocError, StoreError, StoreLockedError

_REASONS = (
    (
        r"(os error|code:) (11|12)\b|OutOfMemory|Failed to spawn",
        "out of memory; allow more (ulimit -v, or the limit of the container), then run the same command again",
    ),
    ("PermissionDenied|ReadOnly", "no write permission in its folder"),
    (r"StorageFull|(os error|code:) (27|28|122)\b", f"the disk is full; {MAKE_ROOM}"),
    ("worker thread|writer was killed", f"writing failed, probably because the disk is full; {MAKE_ROOM}"),
    ("was consumed", "this writer is closed; open another one"),
    (
        "schema does not match|Incompatible",
        "another version made it; use that one, or index into another folder",
    ),
    (
        "DoesNotExist|NotFound|InvalidData|IO error|[Cc]orrupt|Failed to (open|lookup)|PanicException",
        "its files are damaged or gone; simdoc-search check says which, simdoc-search repair saves what can be read",
    ),
)
"""The meaning of tantivy's messages, by a pattern. The whole message is the cause of the StoreError."""

_PATHS = re.compile(r'"(?:[^"\\]|\\.)*"')
"""Quoted paths in a message of tantivy, which may contain any of the patterns."""


@contextmanager
def engine_errors(doing: str, location: str) -> Iterator[None]:
    """Turn errors of tantivy and the file system into a StoreError of one sentence."""
    try:
        yield
    except SimdocError:
        raise
    except BaseException as error:
        if not is_engine_error(error):
            raise
        raise _store_error(error, doing, location) from error


def is_engine_error(error: BaseException) -> bool:
    """Whether an error comes from tantivy or the file system. A panic of tantivy is not an Exception."""
    return isinstance(error, (OSError, RuntimeError, ValueError)) or type(error).__name__ == "PanicException"


def _store_error(error: BaseException, doing: str, location: str) -> StoreError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        advice = MAKE_ROOM if is_full(error) else "check the path and its permissions"
        return StoreError(f"cannot {doing} the store {location}: {reason}; {advice}")
    said = " ".join(f"{type(error).__name__}: {error}".split())
    signs = _PATHS.sub(lambda quoted: "" if "/" in quoted[0] or "\\" in quoted[0] else quoted[0], said)
    if "LockBusy" in signs:
        return StoreLockedError(f"another writer is at work in the store {location}; try again when it is done")
    reason = next((reason for sign, reason in _REASONS if re.search(sign, signs)), said)
    return StoreError(f"cannot {doing} the store {location}: {reason}")
