"""How `simdoc-search passages` asks: for each text its own document and, if wanted, its own folder left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simdoc_search.errors import QuerySyntaxError

if TYPE_CHECKING:
    from simdoc_search.cli.passages_sources import Asked
    from simdoc_search.documents import Place
    from simdoc_search.passages.align import Preset
    from simdoc_search.search import PassageResult, SimilaritySearch


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer about one document or text.

    Attributes:
        asked: what was asked.
        result: who shares passages with it.
        own: the id of the document that it is in the store.
    """

    asked: Asked
    result: PassageResult
    own: str | None

    @property
    def name(self) -> str:
        """What the text is called: its id in the store, or the name that was given."""
        return self.result.source or self.asked.name


class Asking:
    """Asks a store about one document or text after the other.

    Args:
        search: the store.
        filters: which documents are looked at.
        other_folders: none of the folder in which the document lies that is asked about.
        size: most hits of each.
        offset: how many of the best are left out.
        min_words: every equal run of this many words is a passage; None: as `Alignment` has it.
        preset: what counts as a passage.
        compare_all: whether all candidates are compared.
        ignore: texts whose words are ignored.
        ignore_quotes: whether quotations are ignored.

    Attributes:
        search: the store.
    """

    def __init__(
        self,
        search: SimilaritySearch,
        *,
        filters: Sequence[dict[str, Any]],
        other_folders: bool,
        size: int,
        offset: int,
        min_words: int | None,
        preset: Preset,
        compare_all: bool,
        ignore: Sequence[str],
        ignore_quotes: bool,
    ) -> None:
        from simdoc_search.search.files import IndexedFiles

        self.search = search
        self._files = IndexedFiles(search.store)
        self._filters, self._other_folders = filters, other_folders
        self._options: dict[str, Any] = {"size": size, "offset": offset, "min_words": min_words, "preset": preset}
        self._options |= {"compare_all": compare_all, "ignore": ignore, "ignore_quotes": ignore_quotes}

    def answer(self, asked: Asked) -> Answer:
        """The answer.

        Raises:
            SimdocError: there is none; see `SimilaritySearch.passages`.
        """
        if asked.text is None:
            return self._of_document(asked)
        known = self._files.get(asked.file) if asked.file and asked.file != "-" else None
        filters = self._filters_of(known.id) if known else self._filters
        place = known.place if known else None
        result = self.search.passages(text=asked.text, filters=filters, exclude=place, **self._options)
        return Answer(asked, result, place.id if place else None)

    def _of_document(self, asked: Asked) -> Answer:
        from simdoc_search.query import FingerprintQuery

        id = self.search.resolve(asked.name, overlap=0).id  # an overlap given apart: what ends in numbers is an id
        filters = self._filters
        if self._other_folders:
            record = self.search.store.get(id)
            filters = self._filters_of(record.path if record else id)
        result = self.search.passages(FingerprintQuery(id), filters=filters, **self._options)
        return Answer(asked, result, id)

    def _filters_of(self, path: str) -> Sequence[dict[str, Any]]:
        """The filters for a document that has this path in the store.

        Raises:
            QuerySyntaxError: it lies in no folder there.
        """
        from simdoc_search.stores.filters import none_of

        if not self._other_folders:
            return self._filters
        folder, slash, _ = path.rpartition("/")
        if not slash:
            raise QuerySyntaxError(f"{path!r} lies in no folder of the store; leave out --other-folders")
        return [*self._filters, {"path": none_of(f"{folder}/")}]

    def texts(self, places: Sequence[Place]) -> dict[Place, str]:
        """The texts of some documents, where the store has them."""
        from simdoc_search.search.stored_texts import read_records

        found = read_records(self.search.store, places)
        return {place: record.text for place, record in found.items() if record.text is not None}
