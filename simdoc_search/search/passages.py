"""Which documents share passages with this one, and where? Passage tokens choose, the texts decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simdoc_search.analysis.words import placed_words
from simdoc_search.documents import Document, Place
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreError
from simdoc_search.passages.align import PRESETS, Alignment, Preset, align_words
from simdoc_search.passages.coverage import Cover, Mask, also_in, by_added_words, union
from simdoc_search.passages.ignored_words import spans_of, without_words
from simdoc_search.passages.matched_words import matched_words
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.passages_candidates import PassageCandidates, gather
from simdoc_search.search.passages_result import Covered, PassageHit, PassageResult
from simdoc_search.search.passages_source import PassageSource, estimated_measures, source_of_record, source_of_text
from simdoc_search.search.resolver import Question
from simdoc_search.search.similar_options import PageOptions
from simdoc_search.search.stored_texts import ReadText, asked_record, exactly, pages, read_records, with_fields
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record, has_changed
from simdoc_search.stores.shared_tokens import Shared

MOST_COMPARED = 2_000
"""Maximum number of documents that are compared with one source: those that share most tokens."""

MOST_WORDS = 8_000_000
"""Maximum number of words that are compared with one source, its own counted each time: about 10 seconds."""


_Match = Cover[PassageHit]
"""A document with the words of the source that it covers, or with the passage tokens where a text is not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOptions(PageOptions):
    """How shared passages are asked for.

    Attributes:
        min_words: every equal run of this many words is a passage, at least 1; None: as `Alignment` has it.
        preset: what counts as a passage, see `align`.
        exclude: a document that is not looked at: for a text, the document that it is.
        compare_all: whether all candidates are compared, however many there are.
        ignore: texts whose words are not counted, also where they are slightly edited.
        ignore_quotes: whether quotations are not counted.

    Raises:
        QuerySyntaxError: one of them is not what it can be.
    """

    min_words: int | None = None
    preset: Preset | Alignment = "edited"
    exclude: Place | None = None
    compare_all: bool = False
    ignore: Sequence[str] = ()
    ignore_quotes: bool = False

    def __post_init__(self) -> None:
        PageOptions.__post_init__(self)
        least = self.min_words
        if least is not None and (not isinstance(least, int) or isinstance(least, bool) or least < 1):
            raise QuerySyntaxError(f"min_words must be at least 1, not {least!r}")
        if not isinstance(self.preset, Alignment) and self.preset not in PRESETS:
            raise QuerySyntaxError(f"preset must be {' or '.join(PRESETS)}, not {self.preset!r}")
        if isinstance(self.ignore, str):
            raise QuerySyntaxError("ignore must be a list of texts, not one text")

    @property
    def alignment(self) -> Alignment:
        """What counts as a passage."""
        found = self.preset if isinstance(self.preset, Alignment) else PRESETS[self.preset]
        return found if self.min_words is None else replace(found, least=self.min_words)


def passage_answers(
    store: Store, sources: Iterator[Question | Document], options: PassageOptions
) -> Iterator[PassageResult | SimdocError]:
    """The answers to many sources, in order, or the error of each."""
    templates = [placed_words(each, store.settings.analysis) for each in options.ignore]
    for each in sources:
        try:
            source = _source(store, each, options.source_filters)
            if templates or options.ignore_quotes:
                source = source.ignoring(templates, store.settings, quotes=options.ignore_quotes)
            yield documents_sharing(store, source, options)
        except StoreError:
            raise
        except SimdocError as error:
            yield error


def _source(store: Store, asked: Question | Document, filters: Filters | None) -> PassageSource:
    if isinstance(asked, Document):
        return source_of_text(asked.text, store.settings, asked.id)
    return source_of_record(asked_record(store, asked, filters), store.settings)


def documents_sharing(store: Store, source: PassageSource, options: PassageOptions) -> PassageResult:
    """The documents that share passages with a source, first those that add most words to what is covered of it.

    The candidates that are compared do not depend on the page of hits that is asked for.

    Raises:
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        FormatMismatchError: the store has no passage tokens.
    """
    candidates = _candidates(store, source, options)
    if not candidates.total and (error := unknown_field(store, options.filters)):
        raise error
    matches: list[_Match] = []
    compared, words_left = 0, MOST_WORDS
    for page in pages(iter(candidates.documents)):
        if words_left <= 0 and not options.compare_all:
            break
        for each, record in _read(store, page):
            if source.text is None or record.text is None:
                matches.append(_estimated(source, record, each, store.settings))
                continue
            theirs = ReadText.of(record.text, store.settings.analysis)
            words_left -= len(source.text.words.words) + len(theirs.words.words)
            matches += _aligned(source.text, source.ignored, theirs, (record, each), options.alignment)
        compared += len(page)
    return _result(store, source, options, matches, candidates=candidates, compared=compared)


def _candidates(store: Store, source: PassageSource, options: PassageOptions) -> PassageCandidates:
    """The documents to compare, those first that share most tokens."""
    left_out = source.place or options.exclude

    def ask(size: int) -> PassageCandidates:
        # A run of 6 words is found by its phrases, so a single equal token of the fingerprint says nothing more.
        equal = 2 if store.finds_phrases else 1
        return gather(store, source, filters=options.filters, exclude=left_out, size=size, equal=equal)

    found = ask(MOST_COMPARED)
    return ask(found.total) if options.compare_all and found.total > MOST_COMPARED else found


def _read(store: Store, page: Sequence[Shared]) -> Iterator[tuple[Shared, Record]]:
    """The documents of a page that are still stored."""
    records = read_records(store, [each.place for each in page], passages=True)
    return ((each, records[each.place]) for each in page if each.place in records)


def _aligned(
    source: ReadText, ignored: Mask, theirs: ReadText, found: tuple[Record, Shared], alignment: Alignment
) -> Iterator[_Match]:
    """What the two texts share, exactly; nothing if no passage is long enough."""
    record, shared = found
    passages = align_words(source.words, theirs.words, alignment)
    if passages and ignored.any():
        least = alignment.least_of(len(source.words.words))
        passages = list(without_words(passages, source.words, theirs.words, ignored, least))
    if not passages:
        return
    mine = matched_words(source.words, passages)
    other = matched_words(theirs.words, passages, second=True)
    words = int(min(mine.sum(), other.sum()))
    share = words / int((~ignored).sum())
    hit = PassageHit(record.place, words, share, 0, "exact", shared.shared, tuple(passages))
    yield _match(replace(hit, changed=has_changed(record)), mine)


def _match(hit: PassageHit, covers: Mask, weight: float = 1.0) -> _Match:
    return Cover(hit, (-hit.words, hit.id, hit.index or ""), covers.nonzero()[0], len(covers), weight)


def _estimated(source: PassageSource, record: Record, found: Shared, settings: Settings) -> _Match:
    """What the tokens say where a text is not stored: winnowing keeps 2 of w + 1 shingles."""
    weight = ((settings.passages.window if settings.passages else 1) + 1) / 2
    both = also_in(source.passages, record.passages)
    words = min(round(weight * int(both.sum())), *(_words(each, settings) for each in (source, record)))
    share = words / max(_words(source, settings), 1)
    likely = estimated_measures(source, record)
    shares = likely.containment, likely.contained, likely.jaccard
    hit = PassageHit(record.place, words, share, 0, "estimated", found.shared, (), *shares)
    return _match(hit, both, weight)


def _words(text: PassageSource | Record, settings: Settings) -> int:
    """How many words a text has; as many as its distinct shingles need if it is not stored."""
    if isinstance(text, PassageSource) and text.text is not None:
        return int((~text.ignored).sum())
    return text.shingles + settings.analysis.shingle_size - 1 if text.shingles else 0


def _result(
    store: Store,
    source: PassageSource,
    options: PassageOptions,
    matches: list[_Match],
    *,
    candidates: PassageCandidates,
    compared: int,
) -> PassageResult:
    """The matches in order, those of the page with their shingle measures, and what all of them cover."""
    ordered = list(by_added_words(matches))
    page = ordered[options.offset : options.offset + options.size]
    hits = [replace(hit, adds=round(adds)) for hit, adds in page]
    exact = [match for match in matches if match.key.kind == "exact"]
    words = _words(source, store.settings)
    together = min(round(sum(adds for _, adds in ordered)), words)
    text = source.text
    least = options.alignment.least_of(len(text.words.words)) if text else 0
    return PassageResult(
        source.name,
        text.text if text else None,
        with_fields(store, _measured(store, text, hits) if text else hits, options.fields),
        Covered(together, together / words if words else 0.0),
        len(matches),
        words,
        int(source.ignored.sum()),
        candidates.total,
        compared,
        max(candidates.run, min(least, words)),
        candidates.too_common,
        spans_of(text.words, union(exact, len(source.ignored))) if text else [],
        spans_of(text.words, source.ignored) if text else [],
        options.offset,
        len(exact) < len(matches),
        left_out_indices(store),
    )


def _measured(store: Store, source: ReadText, hits: list[PassageHit]) -> list[PassageHit]:
    """Hits with the shingle measures of the texts, which only those need that are shown."""
    analysis = store.settings.analysis
    measured = []
    for page in pages(iter(hits)):
        records = read_records(store, [hit.place for hit in page if hit.kind == "exact"])
        for hit in page:
            record = records.get(hit.place)
            if record is not None and record.text is not None:
                exact = exactly(source, ReadText.of(record.text, analysis), analysis)
                three = {"containment": exact.containment, "contained": exact.contained, "jaccard": exact.jaccard}
                measured.append(replace(hit, **three))  # type: ignore[arg-type]
            else:
                measured.append(hit)
    return measured
