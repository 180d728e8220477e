"""Base class of objects that are closed by a `with` block."""

from __future__ import annotations

from typing import TypeVar

Self = TypeVar("Self")


class Closing:
    """An object that is closed when its `with` block is left."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release what is open."""
        raise NotImplementedError
