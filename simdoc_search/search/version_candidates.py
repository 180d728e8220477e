"""Finds the candidates of `versions`.

If the index was created using `index --with versions`, candidates are found by sentence tokens, which are made
from simhashes of the sentences. Otherwise, they are found by passages and fingerprints, and their simhashes are
computed from the stored texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError, SimdocError, StoreError
from simdoc_search.passages.align import AlignmentSettings
from simdoc_search.search.options import SimilarOptions, VersionQuery
from simdoc_search.search.passage_candidates import choose_document_phrases
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.similar import find_similar_to_records
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import read_simhashes, read_texts, split_into_batches
from simdoc_search.search.version_result import CandidateSource
from simdoc_search.sketch.sentences import choose_flip_count, encode_simhashes, query_token_ids
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.sketch.tokens import TokenIds
from simdoc_search.stores.base import Store
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.versions import SentenceMatches, match_sentences_with_many
from simdoc_search.versions.query_sentences import choose_query_sentences, select_rare_sentences

DEFAULT_MAX_MATCHES_BY_SENTENCES = 500
"""Maximum number of documents that each query of sentences returns.

If more than 50 hits are needed, the maximum is 10 times the number of hits.

Up to four queries are run: two for all chosen sentences of the query document, and two for the rare ones among them.
"""

DEFAULT_MAX_MATCHES_WITHOUT_SENTENCES = 200
"""Maximum number of documents that each of two queries returns if the index has no sentences.

The sentences of these documents are computed from their texts. If more than 20 hits are needed, the maximum is 10 times
the number of hits.
"""

_COMPARED_PER_HIT = 10


@dataclass(frozen=True, slots=True)
class VersionCandidates:
    """Documents that may be versions of the query document."""

    simhashes: dict[DocumentKey, Simhashes]  # of the sentences of each document to compare
    total: int  # number of documents that share a token with the query document
    queried_sentence_count: int  # number of distinct sentences
    candidate_source: CandidateSource = "sentences"  # the kind of tokens that found the candidates

    def select_versions(
        self, document: QueryDocument, thresholds: SimilarityThresholds
    ) -> dict[DocumentKey, tuple[SentenceMatches, float]]:
        """Return the similar sentences and the score of each candidate that is a version of the query document."""
        simhashes, max_distance = list(self.simhashes.values()), thresholds.max_distance
        matches = match_sentences_with_many(document.sentence_simhashes, simhashes, max_distance)
        return {
            key: (matched, score)
            for key, matched in zip(self.simhashes, matches, strict=True)
            if (score := thresholds.score_matches(matched)) is not None and score >= thresholds.min_score
        }


def find_version_candidates(
    store: Store, document: QueryDocument, query: VersionQuery, max_distance: int
) -> VersionCandidates:
    """Return the candidates of a document. The simhashes of similar sentences differ in at most `max_distance` bits.

    Raises:
        StoreError: the store has neither sentences nor texts.
    """
    exclude = document.key or query.exclude
    needed_candidate_count = _COMPARED_PER_HIT * (query.offset + query.size)
    if store.settings.sentences is not None:
        return _find_by_sentences(
            store,
            document,
            query,
            exclude,
            size=max(DEFAULT_MAX_MATCHES_BY_SENTENCES, needed_candidate_count),
            max_distance=max_distance,
        )
    return _find_without_sentences(
        store, document, query, exclude, max(DEFAULT_MAX_MATCHES_WITHOUT_SENTENCES, needed_candidate_count)
    )


def _find_by_sentences(
    store: Store,
    document: QueryDocument,
    query: VersionQuery,
    exclude: DocumentKey | None,
    *,
    size: int,
    max_distance: int,
) -> VersionCandidates:
    """Find candidates with several queries, because a single query of a large collection would miss some candidates.

    Long documents share many similar sentences by chance, so equal sentences are queried separately. Unrelated
    documents with the same footer can share more sentences with the query document than a short version of it does, so
    rare sentences are queried separately.
    """
    simhashes: dict[DocumentKey, Simhashes] = {}
    queried = choose_query_sentences(document.sentence_simhashes)
    flips = choose_flip_count(len(queried), max_distance)

    def add_matches(token_ids: TokenIds) -> int:
        sentence_matches = store.documents_sharing_tokens(
            token_ids, kind="sentences", filters=query.filters, exclude=exclude, size=size
        )
        keys = [shared.key for shared in sentence_matches.documents if shared.key not in simhashes]
        simhashes.update(read_simhashes(store, keys))
        return sentence_matches.total

    total = add_matches(query_token_ids(queried, min(1, flips)))
    if total > size:
        rare_queried = select_rare_sentences(queried, simhashes.values(), max_distance)
        add_matches(encode_simhashes(rare_queried))
        if len(rare_queried) < len(queried):
            add_matches(query_token_ids(rare_queried, min(1, flips)))
    if flips > 1:  # tokens with more flipped bits match many documents by chance, so query them separately
        total = add_matches(query_token_ids(queried, flips))
    return VersionCandidates(simhashes, total, len(queried))


def _find_without_sentences(
    store: Store, document: QueryDocument, query: VersionQuery, exclude: DocumentKey | None, size: int
) -> VersionCandidates:
    if not store.has_texts or document.text is None:
        raise StoreError(
            "the index contains neither sentences nor texts, so versions cannot be found; run `simdoc-search index` "
            "again with --with versions"
        )
    keys: dict[DocumentKey, None] = {}
    total = 0
    has_passages = store.settings.passages is not None
    if has_passages:
        passage_matches = store.documents_sharing_tokens(
            document.passage_tokens_to_query, filters=query.filters, exclude=exclude, size=size
        )
        keys.update(dict.fromkeys(shared.key for shared in passage_matches.documents))
        total = passage_matches.total
    for key in list(_find_by_phrases(store, document, query, exclude))[:size]:
        keys[key] = None
    options = SimilarOptions(size=size, filters=query.filters)
    similar = _find_similar(store, document, options, exclude)
    if isinstance(similar, SearchResult):
        keys.update(dict.fromkeys(hit.key for hit in similar.hits))
        total = max(total, similar.candidate_count)
    elif not has_passages:
        raise similar
    simhashes = {
        key: compute_sentence_simhashes(text, store.settings.analysis)
        for batch in split_into_batches(keys)
        for key, text in read_texts(store, batch).items()
    }
    queried = len(set(document.sentence_simhashes.tolist()))
    candidate_source: CandidateSource = "passages" if has_passages else "fingerprints"
    return VersionCandidates(simhashes, max(total, len(keys)), queried, candidate_source)


def _find_by_phrases(
    store: Store, document: QueryDocument, query: VersionQuery, exclude: DocumentKey | None
) -> Mapping[DocumentKey, tuple[int, ...]]:
    """Find versions of a text of fewer than two shingles in which one word may have changed in every shingle.

    The words before or after the changed word are a phrase of at least half a shingle.
    """
    analysis, text = store.settings.analysis, document.analysed_text
    size, half = analysis.shingle_size, -(-analysis.shingle_size // 2)
    is_single_words = half < 2 or analysis.unit != "word"  # single words are in too many documents
    if text is None or is_single_words or not store.can_find_phrases or not size < len(text.words.words) < 2 * size:
        return {}
    phrases = choose_document_phrases(document, AlignmentSettings(min_run=half))
    return store.documents_with_phrases(phrases, filters=query.filters, exclude=exclude).documents


def _find_similar(
    store: Store, document: QueryDocument, options: SimilarOptions, exclude: DocumentKey | None
) -> SearchResult | SimdocError:
    source = replace(document.fingerprint_record, id="")
    try:
        (result,) = find_similar_to_records(store, [source], options, exclude)
    except NoFingerprintError as error:
        return error
    return result
