"""Closed indices behind an alias: an engine refuses the whole request, or is asked to leave them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.remote.errors import CLOSED, RequestError

Result = TypeVar("Result")

_OF_INDICES = frozenset({"_count", "_msearch", "_pit", "_refresh", "_search", "_stats", "point_in_time"})
"""Requests to indices that may leave out some."""

_OPEN = {"ignore_unavailable": True, "allow_no_indices": False}
"""Parameters with which an engine answers from the open ones of several indices, and from none not at all."""


class OpenOnly:
    """How one who says which indices are closed asks for the others, from the first closed one on that is met.

    Attributes:
        met: the names of closed indices that were met.
    """

    def __init__(self) -> None:
        self.met: frozenset[str] = frozenset()

    def params(self, path: Sequence[str]) -> dict[str, Any]:
        """What is added to the parameters of a request."""
        return _OPEN if self.met and len(path) > 1 and not _OF_INDICES.isdisjoint(path[1:]) else {}

    def ask(self, action: Callable[[], Result]) -> Result:
        """Do something, and again if it met a closed index; if there is no open one either, that is the error."""
        try:
            return action()
        except RequestError as error:
            if error.kind != CLOSED or self.met:
                raise
            self.met |= {error.index}
            try:
                return action()
            except StoreNotFoundError:
                self.met = frozenset()
                raise error from None
