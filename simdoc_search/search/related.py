"""Implements `related`: scores candidates by their concepts, and versions by their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from simdoc_search.errors import SimdocError
from simdoc_search.search.filter_check import unknown_field_error
from simdoc_search.search.options import RelatedQuery
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_candidates import RelatedCandidates, related_candidates
from simdoc_search.search.related_concepts import (
    UNNAMED,
    NamedConcepts,
    NamedWord,
    QueryConcepts,
    named_words,
    query_concepts,
)
from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConcept
from simdoc_search.search.results import with_fields
from simdoc_search.search.stored_texts import read_texts, resolved_record
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.base import Store
from simdoc_search.versions import Limits, match_with_many
from simdoc_search.versions.idf import ConceptWeights
from simdoc_search.versions.relations import WeightedConcepts, explain_similarity, relation_score


def related_to(store: Store, query: RelatedQuery) -> RelatedResult:
    """Return the documents that are related to a document or text; see `SimilaritySearch.related`."""
    limits = query.limits(store.settings.limits)
    if query.text is not None:
        document = QueryDocument.of_text(query.text, store.settings, query.name)
    else:
        record = resolved_record(store, query.query or "", query.source_filters)
        document = QueryDocument(record, store.settings)
    concepts = query_concepts(document, query.extractor, query.synonyms)
    weights = ConceptWeights(concepts.paragraphs, store.concept_frequencies, is_stored=document.is_stored)
    candidates = related_candidates(store, weights, query, document.place or query.exclude)
    if not candidates.total and (error := unknown_field_error(store, query.filters)):
        raise error
    weighted = weights.weight_with([paragraphs for _, paragraphs in candidates.documents])
    scored = _scored(document, weights, candidates, weighted, limits)
    ranked = sorted(
        (hit for hit in scored if hit.score >= limits.min_score),
        key=lambda hit: (-hit.score, hit.id, str(hit.place.index)),
    )
    hits = with_fields(store, ranked[query.offset : query.offset + query.size], query.fields)
    names, unnamed = _names(concepts) if hits and (query.name_concepts or query.explain) else (None, "")
    if names and query.name_concepts:
        hits = _named(hits, names, candidates, weights)
    if query.explain:
        hits = list(_explained(store, hits, names, candidates=candidates, weights=weights, weighted=weighted))
    return RelatedResult(
        document.name,
        hits,
        candidates.total,
        len(candidates.documents),
        unnamed if query.name_concepts else "",
        len(ranked),
        query.offset,
        store.left_out_indices(),
        limits,
    )


def _scored(
    document: QueryDocument,
    weights: ConceptWeights,
    candidates: RelatedCandidates,
    weighted: WeightedConcepts,
    limits: Limits,
) -> Iterator[RelatedHit]:
    """Yield a hit for each candidate. Versions are scored by their sentences, other documents by their concepts."""
    has_sentences = document.settings.sentences is not None
    sentences = document.sentences if has_sentences else sentences_of_codes(no_passages())
    others = [sentences_of_codes(record.sentences) for record, _ in candidates.documents]
    matches = match_with_many(sentences, others, limits.bits)
    similarities = weights.similarities(weighted)
    for (record, paragraphs), similarity, sentence_matches in zip(
        candidates.documents, similarities, matches, strict=True
    ):
        shared, score = weights.count_shared(paragraphs), limits.score_of(sentence_matches)
        if score is None:
            yield RelatedHit(record.place, relation_score(similarity), "related", shared)
        else:
            yield RelatedHit(record.place, score, "version", shared)


def _names(concepts: QueryConcepts) -> tuple[NamedConcepts | None, str]:
    """Return the names of the concepts, or the reason why they have none."""
    try:
        return concepts.names(), ""
    except SimdocError as error:
        return None, str(error)


def _named(
    hits: Sequence[RelatedHit], names: NamedConcepts, candidates: RelatedCandidates, weights: ConceptWeights
) -> list[RelatedHit]:
    concepts = {record.place: paragraphs for record, paragraphs in candidates.documents}
    by_code = weights.weights_by_code()
    return [replace(hit, concepts=names.shared(set(concepts[hit.place].codes.tolist()), by_code)) for hit in hits]


def _explained(
    store: Store,
    hits: Sequence[RelatedHit],
    names: NamedConcepts | None,
    *,
    candidates: RelatedCandidates,
    weights: ConceptWeights,
    weighted: WeightedConcepts,
) -> Iterator[RelatedHit]:
    """Yield the hits with their explanations. Concepts have names if the texts are stored."""
    numbers = {record.place: number for number, (record, _) in enumerate(candidates.documents, 1)}
    texts = read_texts(store, [hit.place for hit in hits]) if names else {}
    own_words: Mapping[int, NamedWord] = names.words if names else {}
    by_code = weights.weights_by_code()
    for hit in hits:
        hit_words: Mapping[int, NamedWord] = {}
        if names and hit.place in texts:
            hit_words = named_words(names.extractor.concepts(texts[hit.place]), names.extractor)
        explanation = explain_similarity(weighted, 0, numbers[hit.place])
        shared = [
            SharedConcept(
                (own_words.get(code) or hit_words.get(code) or UNNAMED).word,
                by_code[code],
                part,
                own_words.get(code, UNNAMED).names,
                hit_words.get(code, UNNAMED).names,
            )
            for code, part in zip(explanation.codes.tolist(), explanation.parts.tolist(), strict=True)
        ]
        shared.sort(key=lambda concept: (-concept.part, concept.word))
        values = explanation.similarity, explanation.whole, explanation.paragraphs
        yield replace(hit, explanation=Explanation(*values, tuple(shared)))
