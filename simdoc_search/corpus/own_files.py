"""Recognises the files that simdoc-search writes for people: plans, undo files and HTML pages.

They repeat the names and texts of other documents, so they are not documents themselves.
"""

from __future__ import annotations

import re

REASON = "written by simdoc-search"

_HEAD_BYTES = 2_000
_BEGINNING = re.compile(
    rb"# This plan of simdoc-search "
    rb'|[0-9a-f]{16} \{"simdoc-search": "undo file'
    rb"|<!DOCTYPE html>.{,1000}<meta name=\"generator\" content=\"simdoc-search\">",
    re.DOTALL,
)


def is_own_file(data: bytes) -> bool:
    """Return whether a file was written by simdoc-search. `data` is its content, or the beginning of it."""
    return _BEGINNING.match(data, 0, _HEAD_BYTES) is not None
