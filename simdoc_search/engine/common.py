"""What the parts of the engine share: its error, how progress is told, and where things are on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simdoc_search.errors import StoreError

__all__ = ["EngineError", "Progress", "cache_folder", "data_folder", "file_errors"]

Progress = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much."""


class EngineError(StoreError):
    """The engine cannot be started, found or stopped.

    Attributes:
        log: the last lines of the log of the node that failed; empty if none did.
    """

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log = tuple(log)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.log)


@contextmanager
def file_errors(doing: str) -> Iterator[None]:
    """Turn what the file system raises into one sentence."""
    try:
        yield
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        raise EngineError(f"cannot {doing}: {place}{error.strerror or error}") from error


def cache_folder() -> Path:
    """What can be fetched again: $XDG_CACHE_HOME or ~/.cache."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def data_folder() -> Path:
    """What cannot: $XDG_DATA_HOME or ~/.local/share."""
    return _user_folder("XDG_DATA_HOME", ".local/share") / "engine"


def _user_folder(variable: str, otherwise: str) -> Path:
    named = Path(os.environ.get(variable, ""))
    # A relative path there is to be ignored, says the specification.
    return (named if named.is_absolute() else Path.home() / otherwise) / "simdoc-search"
