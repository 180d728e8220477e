"""Implements `related`: scores candidates by their concepts, or by their sentences if they are versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from simdoc_search.errors import SimdocError
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.options import RelatedQuery
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_candidates import RelatedCandidates, find_related_candidates
from simdoc_search.search.related_concepts import (
    UNNAMED_WORD,
    NamedConcepts,
    NamedWord,
    QueryConcepts,
    collect_named_words,
    extract_query_concepts,
)
from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConceptWord
from simdoc_search.search.results import add_fields
from simdoc_search.search.stored_texts import read_texts, resolve_record
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.tokens import empty_token_ids
from simdoc_search.stores.base import Store
from simdoc_search.versions import SimilarityThresholds, match_sentences_with_many
from simdoc_search.versions.idf import ConceptWeights
from simdoc_search.versions.relations import WeightedConcepts, explain_similarity, relation_score


def find_related(store: Store, query: RelatedQuery) -> RelatedResult:
    """Return the documents that are related to a document or text; see `SimilaritySearch.related`."""
    thresholds = query.choose_thresholds(store.settings.thresholds)
    if query.text is not None:
        document = QueryDocument.from_text(query.text, store.settings, query.name)
    else:
        record = resolve_record(store, query.query or "", query.query_document_filters)
        document = QueryDocument(record, store.settings)
    concepts = extract_query_concepts(document, query.extractor, query.synonyms)
    weights = ConceptWeights(concepts.paragraphs, store.concept_frequencies, is_stored=document.is_stored)
    candidates = find_related_candidates(store, weights, query, document.key or query.exclude)
    if not candidates.total and (error := find_filter_error(store, query.filters)):
        raise error
    weighted_concepts = weights.make_weighted_concepts([paragraphs for _, paragraphs in candidates.documents])
    scored_hits = _score_candidates(document, weights, candidates, weighted_concepts, thresholds)
    ranked = sorted(
        (hit for hit in scored_hits if hit.score >= thresholds.min_score),
        key=lambda hit: (-hit.score, hit.id, str(hit.key.index)),
    )
    hits = add_fields(store, ranked[query.offset : query.offset + query.size], query.fields)
    concept_names, missing_names_reason = (
        _find_names(concepts) if hits and (query.name_concepts or query.explain) else (None, "")
    )
    if concept_names and query.name_concepts:
        hits = _add_names(hits, concept_names, candidates, weights)
    if query.explain:
        hits = list(
            _add_explanations(
                store, hits, concept_names, candidates=candidates, weights=weights, weighted_concepts=weighted_concepts
            )
        )
    return RelatedResult(
        document.name,
        hits,
        candidates.total,
        len(candidates.documents),
        missing_names_reason if query.name_concepts else "",
        len(ranked),
        query.offset,
        store.left_out_indices(),
        thresholds,
    )


def _score_candidates(
    document: QueryDocument,
    weights: ConceptWeights,
    candidates: RelatedCandidates,
    weighted_concepts: WeightedConcepts,
    thresholds: SimilarityThresholds,
) -> Iterator[RelatedHit]:
    """Yield a hit for each candidate. Versions are scored by sentences, and other documents by concepts."""
    has_sentences = document.settings.sentences is not None
    sentences = document.sentence_simhashes if has_sentences else decode_simhashes(empty_token_ids())
    hit_sentences = [decode_simhashes(record.sentences) for record, _ in candidates.documents]
    matches = match_sentences_with_many(sentences, hit_sentences, thresholds.max_distance)
    similarities = weights.similarities(weighted_concepts)
    for (record, paragraphs), similarity, sentence_matches in zip(
        candidates.documents, similarities, matches, strict=True
    ):
        shared, score = weights.count_shared(paragraphs), thresholds.score_matches(sentence_matches)
        if score is None:
            yield RelatedHit(record.key, relation_score(similarity), "related", shared)
        else:
            yield RelatedHit(record.key, score, "version", shared)


def _find_names(concepts: QueryConcepts) -> tuple[NamedConcepts | None, str]:
    """Return the names of the concepts and an empty string; or None and the reason why there are no names."""
    try:
        return concepts.load_names(), ""
    except SimdocError as error:
        return None, str(error)


def _add_names(
    hits: Sequence[RelatedHit], concept_names: NamedConcepts, candidates: RelatedCandidates, weights: ConceptWeights
) -> list[RelatedHit]:
    concepts = {record.key: paragraphs for record, paragraphs in candidates.documents}
    weights_by_token_id = weights.weights_by_token_id()
    return [
        replace(
            hit,
            concepts=concept_names.find_shared_names(set(concepts[hit.key].token_ids.tolist()), weights_by_token_id),
        )
        for hit in hits
    ]


def _add_explanations(
    store: Store,
    hits: Sequence[RelatedHit],
    concept_names: NamedConcepts | None,
    *,
    candidates: RelatedCandidates,
    weights: ConceptWeights,
    weighted_concepts: WeightedConcepts,
) -> Iterator[RelatedHit]:
    """Yield the hits with their explanations. If the texts are stored, the explained concepts have names."""
    indices = {record.key: number for number, (record, _) in enumerate(candidates.documents, 1)}
    texts = read_texts(store, [hit.key for hit in hits]) if concept_names else {}
    query_words: Mapping[int, NamedWord] = concept_names.words if concept_names else {}
    weights_by_token_id = weights.weights_by_token_id()
    for hit in hits:
        hit_words: Mapping[int, NamedWord] = {}
        if concept_names and hit.key in texts:
            hit_words = collect_named_words(concept_names.extractor.concepts(texts[hit.key]), concept_names.extractor)
        explanation = explain_similarity(weighted_concepts, 0, indices[hit.key])
        shared = [
            SharedConceptWord(
                (query_words.get(token_id) or hit_words.get(token_id) or UNNAMED_WORD).word,
                weights_by_token_id[token_id],
                part,
                query_words.get(token_id, UNNAMED_WORD).concepts,
                hit_words.get(token_id, UNNAMED_WORD).concepts,
            )
            for token_id, part in zip(explanation.token_ids.tolist(), explanation.contributions.tolist(), strict=True)
        ]
        shared.sort(key=lambda concept: (-concept.contribution, concept.word))
        values = explanation.similarity, explanation.document_similarity, explanation.paragraph_similarity
        yield replace(hit, explanation=Explanation(*values, tuple(shared)))
