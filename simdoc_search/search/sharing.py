"""Which documents share passages with this one, and where? Passage tokens choose, the texts decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simdoc_search.documents import Document, Place
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreError
from simdoc_search.passages.align import PRESETS, Alignment, Preset, align_words
from simdoc_search.passages.compare import words_covered
from simdoc_search.search.filtering import unknown_field
from simdoc_search.search.options import check_page
from simdoc_search.search.passage_result import PassageHit, PassageResult
from simdoc_search.search.passage_source import PassageSource, estimated_measures, source_of_record, source_of_text
from simdoc_search.search.resolving import Question
from simdoc_search.search.texts import ReadText, asked_record, exactly, pages, read_records, with_fields
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.changed import has_changed
from simdoc_search.stores.filters import Filters, conditions
from simdoc_search.stores.record import Record
from simdoc_search.stores.sharing import Shared

__all__ = ["PassageOptions", "documents_sharing", "passage_answers"]

MOST_COMPARED = 200
"""Documents that are compared with one source at most, or ten times as many as are wanted: where a phrase stands in
every document, those that share most tokens."""

_COMPARED_PER_HIT = 10


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """How shared passages are asked for.

    Attributes:
        size: most documents to give, at least 1.
        min_words: equal words of the shortest passage, at least 1; None: those of the preset.
        preset: what counts as a passage, see `align`.
        filters: which documents are looked at.
        exclude: one that is not: for a text, the document that it is.
        offset: how many of the best are left out, as they were given already; at least 0.
        fields: what the documents shall have in `fields`.
        source_filters: which documents may be asked about.

    Raises:
        QuerySyntaxError: one of them is not what it can be.
    """

    size: int = 10
    min_words: int | None = None
    preset: Preset | Alignment = "edited"
    filters: Filters | None = None
    exclude: Place | None = None
    offset: int = 0
    fields: Sequence[str] = ()
    source_filters: Filters | None = None

    def __post_init__(self) -> None:
        check_page(self.size, self.offset, self.fields)
        least = self.min_words
        if least is not None and (not isinstance(least, int) or isinstance(least, bool) or least < 1):
            raise QuerySyntaxError(f"min_words must be at least 1, not {least!r}")
        if not isinstance(self.preset, Alignment) and self.preset not in PRESETS:
            raise QuerySyntaxError(f"preset must be {' or '.join(PRESETS)}, not {self.preset!r}")
        conditions(self.filters)
        conditions(self.source_filters)

    @property
    def alignment(self) -> Alignment:
        """What counts as a passage."""
        found = self.preset if isinstance(self.preset, Alignment) else PRESETS[self.preset]
        return found if self.min_words is None else replace(found, least=self.min_words)


def passage_answers(
    store: Store, sources: Iterator[Question | Document], options: PassageOptions
) -> Iterator[PassageResult | SimdocError]:
    """The answers to many sources, in order, or the error of each."""
    for each in sources:
        try:
            yield documents_sharing(store, _source(store, each, options.source_filters), options)
        except StoreError:
            raise
        except SimdocError as error:
            yield error


def _source(store: Store, asked: Question | Document, filters: Filters | None) -> PassageSource:
    if isinstance(asked, Document):
        return source_of_text(asked.text, store.settings, asked.id)
    return source_of_record(asked_record(store, asked, filters), store.settings)


def documents_sharing(store: Store, source: PassageSource, options: PassageOptions) -> PassageResult:
    """The documents that share most words with a source, in passages that are long enough.

    They are compared in the order of the tokens that they share, until as many are found as are wanted and the next
    ones share so few tokens that no passage of theirs can be longer.

    Raises:
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        FormatMismatchError: the store has no passage tokens.
    """
    wanted = options.offset + options.size
    most = max(MOST_COMPARED, _COMPARED_PER_HIT * wanted)
    left_out = source.place or options.exclude
    found = store.sharing(source.codes, filters=options.filters, exclude=left_out, size=most)
    if not found.total and (error := unknown_field(store, options.filters)):
        raise error
    hits: list[PassageHit] = []
    compared = 0
    for page in pages(iter(found.documents)):
        if _least_of_best(hits, wanted) > _longest(page[0], store.settings):
            break
        compared += len(page)
        hits += _compared(store, source, page, options)
    best = sorted(hits, key=lambda hit: (-hit.words, -hit.containment, hit.id, hit.index or ""))
    shown = with_fields(store, best[options.offset : wanted], options.fields)
    return PassageResult(source.name, source.text.text if source.text else None, shown, found.total, compared)


def _least_of_best(hits: Sequence[PassageHit], size: int) -> int:
    """How many words the last of the best hits shares; 0 while there are fewer."""
    shared = sorted((hit.words for hit in hits), reverse=True)
    return shared[size - 1] if len(shared) >= size else 0


def _longest(document: Shared, settings: Settings) -> int:
    """The words of the longest run that shares so few tokens: each `window` shingles more share one more."""
    window = settings.passages.window if settings.passages else 1
    return window * (document.shared + 1) + settings.analysis.shingle_size - 2


def _compared(
    store: Store, source: PassageSource, page: Sequence[Shared], options: PassageOptions
) -> Iterator[PassageHit]:
    records = read_records(store, [each.place for each in page], passages=True)
    for each in page:
        record = records.get(each.place)
        if record is None:  # deleted meanwhile
            continue
        if source.text is None or record.text is None:
            yield _estimated(source, record, each, store.settings)
        elif hit := _aligned(source.text, record, each, options, store.settings):
            yield hit


def _aligned(
    source: ReadText, record: Record, found: Shared, options: PassageOptions, settings: Settings
) -> PassageHit | None:
    """What the two texts share, exactly; None if no passage is long enough."""
    theirs = ReadText.of(record.text or "", settings.analysis)
    passages = align_words(source.words, theirs.words, options.alignment)
    if not passages:
        return None
    exact = exactly(source, theirs, settings.analysis)
    words = words_covered(source.words, [each.a for each in passages])
    return PassageHit(
        record.place,
        words,
        exact.containment,
        exact.contained,
        exact.jaccard,
        "exact",
        found.shared,
        tuple(passages),
        has_changed(record),
    )


def _estimated(source: PassageSource, record: Record, found: Shared, settings: Settings) -> PassageHit:
    """What the tokens say where a text is not stored: winnowing keeps 2 of w + 1 shingles."""
    both = count_common(source.passages, record.passages)
    window = settings.passages.window if settings.passages else 1
    likely = estimated_measures(source, record)
    words = round(both * (window + 1) / 2)
    shares = likely.containment, likely.contained, likely.jaccard
    return PassageHit(record.place, words, *shares, "estimated", found.shared)
