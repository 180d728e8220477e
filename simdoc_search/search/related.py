"""Which documents are related to this one? Its rarest concepts choose, all concepts of both decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.related_names import UNNAMED, NamedConcepts, NamedWord, named_words
from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConcept
from simdoc_search.search.related_source import RelatedSource
from simdoc_search.search.similar_options import PageOptions
from simdoc_search.search.stored_texts import read_records, with_fields
from simdoc_search.sketch.concepts import Paragraphs, paragraphs_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.record import Record
from simdoc_search.versions import Limits, matched_with_many
from simdoc_search.versions.idf import Telling
from simdoc_search.versions.relations import Explained, Weighted, explained, relation_score

MOST_LOOKED_AT = 200
"""Documents whose concepts are read, or four times as many as are wanted: those that share most of the rare ones."""

MOST_COMPARED = 50
"""Documents that are compared, or twice as many as are wanted: those of them that share most for their length."""

_LOOKED_AT_PER_HIT, _COMPARED_PER_HIT = 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedOptions(PageOptions):
    """How related documents are asked for.

    Attributes:
        exclude: a document that is not looked at: for a text, the document that it is.
        limits: what makes versions of two documents, and from which score on a document is given.
        explain: whether each says what its similarity is made of.
        name_concepts: whether each says what is shared.

    Raises:
        QuerySyntaxError: see `PageOptions`.
    """

    exclude: Place | None = None
    limits: Limits = field(default_factory=Limits)
    explain: bool = False
    name_concepts: bool = True


def related_to(store: Store, source: RelatedSource, options: RelatedOptions) -> RelatedResult:
    """The documents that are related to a source.

    Raises:
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        FormatMismatchError: the store has no concepts.
    """
    telling = Telling(source.concepts, store.frequencies, stored=source.place is not None)
    wanted, limits = options.offset + options.size, options.limits
    most = max(MOST_LOOKED_AT, _LOOKED_AT_PER_HIT * wanted)
    left_out = source.place or options.exclude
    found = store.sharing(telling.asked(), among="concepts", filters=options.filters, exclude=left_out, size=most)
    if not found.total and (error := unknown_field(store, options.filters)):
        raise error
    records = read_records(store, [each.place for each in found.documents], text=False, sketches=True).values()
    compared = _nearest(telling, records)[: max(MOST_COMPARED, _COMPARED_PER_HIT * wanted)]
    weighted = telling.weighted([each for _, each in compared])
    hits = [each for each in _scored(telling, source, compared, weighted, limits) if each.score >= limits.min_score]
    best = sorted(hits, key=lambda hit: (-hit.score, hit.id, str(hit.place.index)))
    shown = with_fields(store, best[options.offset : wanted], options.fields)
    named, unnamed = shown, ""
    if options.name_concepts:
        named, unnamed = _named(telling, source, shown, {record.place: its for record, its in compared})
    if options.explain:
        numbers = {record.place: number for number, (record, _) in enumerate(compared, 1)}
        named = list(_explained(store, source, named, telling, lambda each: explained(weighted, 0, numbers[each])))
    return RelatedResult(
        source.name,
        named,
        found.total,
        len(compared),
        unnamed,
        len(hits),
        options.offset,
        left_out_indices(store),
        limits,
    )


def _nearest(telling: Telling, records: Iterable[Record]) -> list[tuple[Record, Paragraphs]]:
    """Records with their concepts: those that share most for their length first, without such as have none any more."""
    read = [(each, paragraphs_of(each.concepts)) for each in records]
    return sorted((each for each in read if each[1].count), key=lambda each: (-telling.nearness(each[1]), each[0].id))


def _scored(
    telling: Telling,
    source: RelatedSource,
    compared: Sequence[tuple[Record, Paragraphs]],
    weighted: Weighted,
    limits: Limits,
) -> Iterator[RelatedHit]:
    """All that were compared, with their scores: that of versions for those that are such."""
    similar = telling.similarities(weighted)
    theirs = [sentences_of_codes(each.sentences) for each, _ in compared]
    matched = matched_with_many(source.sentences, theirs, limits.bits)
    for (record, its), alike, sentences in zip(compared, similar, matched, strict=True):
        version = limits.score_of(sentences)
        if version is None:
            yield RelatedHit(record.place, relation_score(alike), "related", telling.shared(its))
        else:
            yield RelatedHit(record.place, version, "version", telling.shared(its))


def _explained(
    store: Store,
    source: RelatedSource,
    hits: Sequence[RelatedHit],
    telling: Telling,
    explained_at: Callable[[Place], Explained],
) -> Iterator[RelatedHit]:
    """The hits with what their similarity is made of; the words are named where the texts are known."""
    try:
        names: NamedConcepts | None = source.names()
    except SimdocError:  # the result says why nothing is named
        names = None
    texts = read_records(store, [each.place for each in hits]) if names else {}
    weights = telling.weights()
    for hit in hits:
        mine: Mapping[int, NamedWord] = names.words if names else {}
        text = texts[hit.place].text if hit.place in texts else None
        theirs = named_words(names.extractor.concepts(text), names.extractor) if names and text is not None else {}
        found = explained_at(hit.place)
        shared = [
            SharedConcept(
                (mine.get(code) or theirs.get(code) or UNNAMED).word,
                weights[code],
                part,
                mine.get(code, UNNAMED).names,
                theirs.get(code, UNNAMED).names,
            )
            for code, part in zip(found.codes.tolist(), found.parts.tolist(), strict=True)
        ]
        shared.sort(key=lambda each: (-each.part, each.word))
        yield replace(hit, explanation=Explanation(found.similarity, found.whole, found.paragraphs, tuple(shared)))


def _named(
    telling: Telling, source: RelatedSource, hits: list[RelatedHit], concepts: Mapping[Place, Paragraphs]
) -> tuple[list[RelatedHit], str]:
    """The hits with the names of what they share, or why there are none."""
    if not hits:
        return hits, ""
    try:
        names = source.names()
    except SimdocError as error:
        return hits, str(error)
    weights = telling.weights()
    shared = [names.shared(set(concepts[each.place].codes.tolist()), weights) for each in hits]
    return [replace(each, concepts=its) for each, its in zip(hits, shared, strict=True)], ""
