"""Output of `simdoc-search related` for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simdoc_search.cli.columns import ColumnLayout, link_id, sort_hits
from simdoc_search.display import (
    describe_compared_documents,
    describe_shown_hits,
    format_more_hits_hint,
    format_percent,
    list_examples,
    printable,
)

if TYPE_CHECKING:
    from simdoc_search.cli.columns import HitColumns
    from simdoc_search.search.related_result import RelatedHit, RelatedResult, SharedConceptWord

_MAX_CONCEPTS = 8
_MAX_EXPLAINED_WORDS, _MAX_CONCEPTS_PER_WORD = 12, 2


def related_lines(result: RelatedResult, columns: HitColumns, query_id: str | None) -> Iterator[str]:
    """Yield the hits and the counts. `query_id` is the id of the query file if it is indexed, otherwise None."""
    from simdoc_search.search.related_result import describe_shared_words

    values = columns.read(hit.key for hit in result.hits)
    layout = ColumnLayout(columns.names, values.values())
    for hit in sort_hits(result.hits, columns, values):
        name = layout.format_row(values.get(hit.key)) + link_id(hit.id, values.get(hit.key))
        concepts = list_examples(hit.concepts, _MAX_CONCEPTS)
        yield f"{hit.score:.2f}  {hit.kind:<7}  {name}"
        yield f"      {printable(concepts or describe_shared_words(hit))}"
        yield from (f"      {printable(line)}" for line in _explanation_lines(hit))
    if not result.hits:
        yield "no related documents"
    if query_id is not None:
        yield printable(f"The document {query_id!r} is not listed, because it was indexed from the query file.")
    yield describe_compared_documents(result.compared_count, result.candidate_count)
    if more_hits := format_more_hits_hint(len(result.hits), result.total, result.offset):
        at_least = result.compared_count < result.candidate_count
        counts = describe_shown_hits(
            len(result.hits), result.total, result.offset, "related document", is_lower_bound=at_least
        )
        yield f"{counts}.{more_hits}"
    if result.hits and result.missing_names_reason:
        yield printable(f"the words of some concepts are unknown: {result.missing_names_reason}")


def _explanation_lines(hit: RelatedHit) -> Iterator[str]:
    """Yield lines that explain the score, and the contribution of each shared word."""
    from simdoc_search.versions.relations import MIN_RELATED_SIMILARITY

    explanation = hit.explanation
    if explanation is None:
        return
    documents, paragraphs = explanation.document_similarity, explanation.paragraph_similarity
    formula = f"the mean of {documents:.3f} (whole documents) and {paragraphs:.3f} (paragraphs)"
    yield (
        f"concept similarity {explanation.similarity:.3f}: {formula}. "
        f"Documents are related if their concept similarity is {MIN_RELATED_SIMILARITY} or more"
    )
    if hit.kind == "version":
        yield (
            "this document is a version of the query document, so the score is computed from sentences, not from "
            "concepts"
        )
    if not explanation.words:
        return
    yield f"{'share':>6}{'weight':>8}  word"
    for word in explanation.words[:_MAX_EXPLAINED_WORDS]:
        share = format_percent(word.contribution / explanation.similarity) if explanation.similarity else "0 %"
        yield f"{share:>6}{word.weight:>8.2f}  {word.word or '–'}{_format_concepts(word)}"
    if rest := explanation.words[_MAX_EXPLAINED_WORDS:]:
        share = format_percent(sum(word.contribution for word in rest) / explanation.similarity)
        yield f"{share:>6}{'':>8}  {len(rest):,} more words"


def _format_concepts(word: SharedConceptWord) -> str:
    """Return a colon, and each document's concepts that contain the word; empty if there are none."""
    query_concepts, hit_concepts = (
        ", ".join(concepts[:_MAX_CONCEPTS_PER_WORD]) for concepts in (word.query_concepts, word.hit_concepts)
    )
    if not query_concepts and not hit_concepts:
        return ""
    if query_concepts == hit_concepts:
        return f": {query_concepts}"
    return f": {query_concepts or '–'} / {hit_concepts or '–'}"
