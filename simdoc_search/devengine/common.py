"""The error of the development engine, its progress callback, and its folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from simdoc_search.errors import MissingExtraError, StoreError

OnStep = Callable[[str, int, int], None]
"""Called with the current step, and how much of it is done of how much."""

_NAME = "simdoc-search"


class EngineError(StoreError):
    """The engine cannot be started, found or stopped.

    Attributes:
        log: last lines of the log of the node that failed, if any.
    """

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log: tuple[str, ...] = tuple(log)


@contextmanager
def file_errors(doing: str) -> Iterator[None]:
    """Turn an OSError into an EngineError."""
    try:
        yield
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        raise EngineError(f"cannot {doing}: {place}{error.strerror or error}") from error


def cache_folder() -> Path:
    """Return the folder for files that can be fetched again; on Linux below $XDG_CACHE_HOME or ~/.cache."""
    return Path(_platformdirs().user_cache_dir(_NAME, appauthor=False))


def data_folder() -> Path:
    """Return the folder for data; on Linux below $XDG_DATA_HOME or ~/.local/share."""
    return Path(_platformdirs().user_data_dir(_NAME, appauthor=False)) / "engine"


def _platformdirs() -> ModuleType:
    try:
        import platformdirs  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    return platformdirs
