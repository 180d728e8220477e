"""Defines the error, the progress callback and the folders of the development engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from simdoc_search.errors import MissingExtraError, StoreError

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of the current step, the number of finished parts, and the number of parts (0 if unknown)."""

_APP_NAME = "simdoc-search"


class DevEngineError(StoreError):
    """The engine cannot be started, found or stopped.

    Attributes:
        log_lines: last lines of the log of the node that caused the error; empty if the cause is not a node.
    """

    def __init__(self, message: str, log_lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log_lines: tuple[str, ...] = tuple(log_lines)


@contextmanager
def as_dev_engine_errors(action: str) -> Iterator[None]:
    """Convert an OSError to a DevEngineError. `action` is the failed action, for the message."""
    try:
        yield
    except OSError as error:
        path = "" if error.filename is None else f"{error.filename}: "
        raise DevEngineError(f"cannot {action}: {path}{error.strerror or error}") from error


def cache_folder() -> Path:
    """Return the folder for files that can be downloaded again. On Linux, it is in $XDG_CACHE_HOME or ~/.cache."""
    return Path(_import_platformdirs().user_cache_dir(_APP_NAME, appauthor=False))


def data_folder() -> Path:
    """Return the folder for the data of development engines. On Linux, it is in $XDG_DATA_HOME or ~/.local/share."""
    return Path(_import_platformdirs().user_data_dir(_APP_NAME, appauthor=False)) / "engine"


def _import_platformdirs() -> ModuleType:
    try:
        import platformdirs  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    return platformdirs
