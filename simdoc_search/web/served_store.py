"""Opens the store for the first request, and again after an error."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from simdoc_search.cancellation import StopEvent, current_stop_event
from simdoc_search.display import without_secrets
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.indexing.skipped_files import SkippedFilesNote, describe_skipped_files
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.web.background_job import BackgroundJob

if TYPE_CHECKING:
    from simdoc_search.groups import Families, Topics
    from simdoc_search.web.apply import FileChanges
    from simdoc_search.web.local_access import LocalAccess
    from simdoc_search.web.review import DuplicatesReview
    from simdoc_search.web.skipped import UnindexedFiles

_MIN_CACHE_SECONDS, _CACHE_SECONDS_PER_READ_SECOND = 60.0, 100
"""A document count is reused for at least 60 seconds, and for at least 100 times as long as counting took."""

Value = TypeVar("Value")

_log = logging.getLogger(__name__)


class NotIndexedError(SimdocError):
    """The store does not have the data for this search."""


class _CachedValue(Generic[Value]):
    """A value that can take seconds to read. It may be out of date."""

    def __init__(self, read: Callable[[], Value]) -> None:
        self._read = read
        self._value: Value | None = None
        self._expires = 0.0

    def get(self) -> Value:
        value, now = self._value, time.monotonic()
        if value is None or now > self._expires:
            self._value = value = self._read()
            self._expires = now + max(_MIN_CACHE_SECONDS, _CACHE_SECONDS_PER_READ_SECOND * (time.monotonic() - now))
        return value

    def invalidate(self) -> None:
        self._value = None


class ServedStore:
    """A store that many threads share.

    Args:
        open_search: Opens the store. If it raises an error, the current request fails, and the next one tries again.
        locations: All spellings of the store's location. No response contains them.
        columns: The default columns of hits.
        local: The additional features for requests from this computer. None if the server does not offer them.

    Attributes:
        file_changes: The job that moves duplicates, or moves them back.
        stop: An event that is set when the store is closed, so that all requests end.
    """

    def __init__(
        self,
        open_search: Callable[[], SimilaritySearch],
        locations: Sequence[str] = (),
        columns: Sequence[str] = (),
        local: LocalAccess | None = None,
    ) -> None:
        self._open_search = open_search
        self._search: SimilaritySearch | None = None
        self._info = _CachedValue(self._read_info)
        self._skipped_files_note = _CachedValue(self._read_skipped_files_note)
        self._locations = sorted(filter(None, locations), key=len, reverse=True)
        self._lock = Lock()
        self.columns: list[str] = list(columns)
        self.local: LocalAccess | None = local
        self.duplicates: BackgroundJob[DuplicatesReview] = BackgroundJob("duplicates")
        self.file_changes: BackgroundJob[FileChanges] = BackgroundJob("duplicates/apply", "moving the files")
        self.families: BackgroundJob[Families] = BackgroundJob("families")
        self.topics: BackgroundJob[Topics] = BackgroundJob("topics")
        self.unindexed_files: BackgroundJob[UnindexedFiles] = BackgroundJob(
            "documents/skipped", "the search for skipped files"
        )
        self.stop: StopEvent = StopEvent()

    def search(self) -> SimilaritySearch:
        """Return a search over the store that ends when the current request is stopped."""
        with self._lock:
            if self._search is None:
                self._search = self._open_search()
            search, stop = self._search, current_stop_event()
        return search if stop is None else SimilaritySearch(search.store.cancellable_by(stop))

    def passages_search(self) -> SimilaritySearch:
        """Return a search over the store, which must have passage tokens."""
        search = self.search()
        if search.store.settings.passages is None:
            advice = "index the documents again into a new index, without --no-passages"
            raise NotIndexedError(f"the index has no data for finding shared passages; {advice}")
        return search

    def concepts_search(self) -> SimilaritySearch:
        """Return a search over the store, which must have concepts."""
        search = self.search()
        if search.store.settings.concepts is None:
            advice = TOKEN_KINDS["concepts"].how_to_add(search.store.info().location)
            raise NotIndexedError(f"the index has no concepts; {advice}")
        return search

    @property
    def has_concepts(self) -> bool:
        """Whether the store has concepts. False if it was not opened yet."""
        return self._search is not None and self._search.store.settings.concepts is not None

    def info(self) -> StoreInfo:
        """Return the number of documents and the settings.

        The number may be out of date, because counting a million documents takes seconds.
        """
        return self._info.get()

    def skipped_files_note(self) -> SkippedFilesNote:
        """Return which files `index` skipped. It is empty if there are none, and may be old."""
        return self._skipped_files_note.get()

    def _read_info(self) -> StoreInfo:
        return self.search().store.info()

    def _read_skipped_files_note(self) -> SkippedFilesNote:
        return describe_skipped_files(self.search().store.skipped_files())

    def invalidate_info(self) -> None:
        """Count the documents again for the next request. Call this after adding or deleting documents."""
        self._info.invalidate()
        self._skipped_files_note.invalidate()

    def left_out_indices(self) -> tuple[LeftOutIndex, ...]:
        """Return the indices of an alias that are not searched."""
        return self._search.store.left_out_indices() if self._search is not None else ()

    def reopen_after(self, error: StoreError) -> None:
        """Drop the open store, so that the next request opens it again. The engine may be available by then."""
        _log.warning("%s", error)
        with self._lock:
            self._search = None
        self.invalidate_info()

    def close(self) -> None:
        """Stop all requests and background jobs, and close the store."""
        for job in (self.duplicates, self.file_changes, self.families, self.topics, self.unindexed_files):
            job.stop()
        self.stop.set()
        if self._search is not None:
            self._search.store.close()

    def hide_location(self, message: object) -> str:
        """Return a message without the location of the store."""
        text = without_secrets(str(message))
        for location in self._locations:
            if location.isalnum():  # such as `s`, which other words contain
                text = re.sub(rf"(?<![\w'’]){location}(?!\w)", "the index", text)
            else:
                text = text.replace(location, "the index")
        return text
