"""What the parts of the engine share: its error, how progress is told, and where things are on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from simdoc_search.errors import MissingExtraError, StoreError

OnStep = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much."""

_NAME = "simdoc-search"


class EngineError(StoreError):
    """The engine cannot be started, found or stopped.

    Attributes:
        log: the last lines of the log of the node that failed; empty if none did.
    """

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log: tuple[str, ...] = tuple(log)


@contextmanager
def file_errors(doing: str) -> Iterator[None]:
    """Turn what the file system raises into one sentence."""
    try:
        yield
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        raise EngineError(f"cannot {doing}: {place}{error.strerror or error}") from error


def cache_folder() -> Path:
    """What can be fetched again, where this system has it; on Linux $XDG_CACHE_HOME or ~/.cache."""
    return Path(_folders().user_cache_dir(_NAME, appauthor=False))


def data_folder() -> Path:
    """What cannot; on Linux $XDG_DATA_HOME or ~/.local/share."""
    return Path(_folders().user_data_dir(_NAME, appauthor=False)) / "engine"


def _folders() -> ModuleType:
    try:
        import platformdirs  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    return platformdirs
