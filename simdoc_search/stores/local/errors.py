"""Converts errors of tantivy and the file system into a `StoreError` with a message of one sentence."""

from __future__ import annotations

import re

from simdoc_search.durable import DISK_FULL_ADVICE, is_disk_full
from simdoc_search.errors import SimdocError, StoreError, StoreLockedError

_REASONS = (
    (
        r"(os error|code:) (11|12)\b|OutOfMemory|Failed to spawn",
        "out of memory; raise the memory limit, then run the command again",
    ),
    ("PermissionDenied|ReadOnly", "no permission to write to the folder; check the permissions"),
    (r"StorageFull|(os error|code:) (27|28|122)\b", f"the disk is full; {DISK_FULL_ADVICE}"),
    ("worker thread|writer was killed", f"writing failed, probably because the disk is full; {DISK_FULL_ADVICE}"),
    ("was consumed", "this writer is closed; open a new writer"),
    (
        "schema does not match|Incompatible",
        "another version of simdoc-search created the index; use that version, or index into another folder",
    ),
    (
        "DoesNotExist|NotFound|InvalidData|IO error|[Cc]orrupt|Failed to (open|lookup)|PanicException",
        "some files are damaged or missing; run `simdoc-search check` to list them, and `simdoc-search repair` to save "
        "the readable documents",
    ),
)
"""Patterns of tantivy's error messages, each with the message that replaces it."""

_QUOTED_PATH = re.compile(r'"(?:[^"\\]|\\.)*"')
"""Quoted paths in a message of tantivy. They are removed, because a path may match one of the patterns."""


class convert_errors:  # noqa: N801 - used like a function
    """Convert errors of tantivy and the file system into "cannot ACTION the index LOCATION: REASON".

    This class is faster than a function with `contextmanager`. A query enters it for each document that it reads.
    """

    __slots__ = ("_action", "_location")

    def __init__(self, action: str, location: str) -> None:
        self._action, self._location = action, location

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        if error is None or isinstance(error, SimdocError):
            return
        is_panic = type(error).__name__ == "PanicException"  # tantivy raises this BaseException if its Rust code panics
        if is_panic or isinstance(error, (OSError, RuntimeError, ValueError)):
            raise _store_error(error, self._action, self._location) from error


def _store_error(error: BaseException, action: str, location: str) -> StoreError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        advice = (
            DISK_FULL_ADVICE if is_disk_full(error) else "check its permissions, or choose another place with --store"
        )
        return StoreError(f"cannot {action} the index {location}: {reason}; {advice}")
    message = " ".join(f"{type(error).__name__}: {error}".split())
    without_paths = _QUOTED_PATH.sub(lambda quoted: "" if "/" in quoted[0] or "\\" in quoted[0] else quoted[0], message)
    if "LockBusy" in without_paths:
        return StoreLockedError(f"another writer is writing to the index {location}; try again when it has finished")
    reason = next((reason for pattern, reason in _REASONS if re.search(pattern, without_paths)), message)
    return StoreError(f"cannot {action} the index {location}: {reason}")
