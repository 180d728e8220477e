"""The documents that are served: opened when they are first asked for, and again after something went wrong."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from simdoc_search.cancellation import Stop, current_stop
from simdoc_search.display import without_secrets
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.groups import Families
from simdoc_search.search import SimilaritySearch
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.excluded_indices import LeftOutIndex, left_out_indices
from simdoc_search.web.background_jobs import Finding, Found, FoundTopics

COUNTED_FOR = 60.0
"""Seconds for which the number of documents is not counted again, or a hundred times as long as counting takes."""

_log = logging.getLogger(__name__)


class NotKeptError(SimdocError):
    """The collection was made without what would answer this."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a store had, and until when by the clock of this process that is told."""

    info: StoreInfo
    until: float


class Collection:
    """A store, for many threads.

    Args:
        opened: opens it; what it raises is told to whoever asks, and the next one tries again.
        hidden: where it is, in all spellings; no answer shows it.
        columns: what is shown beside each document where nobody chooses.

    Attributes:
        columns: as above.
        finding: the search for duplicates, of which there is one at a time.
        families: the search for families of versions, likewise.
        topics: the search for topics, likewise.
        stop: set when it is closed, so that the work of all threads ends.
    """

    def __init__(
        self, opened: Callable[[], SimilaritySearch], hidden: Sequence[str] = (), columns: Sequence[str] = ()
    ) -> None:
        self._open = opened
        self._search: SimilaritySearch | None = None
        self._counted: Counted | None = None
        self._hidden = sorted(filter(None, hidden), key=len, reverse=True)
        self._lock = Lock()
        self.columns: list[str] = list(columns)
        self.finding: Finding[Found] = Finding("duplicates")
        self.families: Finding[Families] = Finding("families")
        self.topics: Finding[FoundTopics] = Finding("topics")
        self.stop: Stop = Stop()

    def search(self) -> SimilaritySearch:
        """The search over it, which ends when the work at hand is stopped.

        Raises:
            StoreError: it cannot be opened now.
        """
        with self._lock:
            if self._search is None:
                self._search = self._open()
            search, stop = self._search, current_stop()
        return search if stop is None else SimilaritySearch(search.store.until(stop))

    def info(self) -> StoreInfo:
        """What it has, as it was a while ago: of a million documents counting takes seconds."""
        search = self.search()
        counted, now = self._counted, time.monotonic()
        if counted is None or now > counted.until:
            info = search.store.info()
            took = time.monotonic() - now
            self._counted = counted = Counted(info, now + max(COUNTED_FOR, 100 * took))
        return counted.info

    def left_out(self) -> Sequence[LeftOutIndex]:
        """The indices behind an alias whose documents no answer has."""
        return left_out_indices(self._search.store) if self._search is not None else ()

    def failed(self, error: StoreError) -> None:
        """It is opened anew next time: the engine may be up again, the folder made again with other settings."""
        _log.warning("%s", error)
        with self._lock:
            self._search = self._counted = None

    def close(self) -> None:
        """Whoever waits for the store waits no longer."""
        for each in (self.finding, self.families, self.topics):
            each.stop()
        self.stop.set()
        if self._search is not None:
            self._search.store.close()

    def shown(self, message: object) -> str:
        """A message without the place of the store."""
        text = without_secrets(str(message))
        for place in self._hidden:
            text = text.replace(place, "the store")
        return text
