"""The result of `similar`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.display import (
    describe_compared_documents,
    describe_shown_hits,
    format_estimate,
    format_percent,
    printable,
)
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.passages.exact_overlap import MeasureName, Measures
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.results import HitsResult
from simdoc_search.stores.record import LeftOutDocument, LeftOutIndex

_PRINTED_HITS = 10


@dataclass(frozen=True, slots=True)
class Hit(HasDocumentKey):
    """A document that shares text with the query document.

    Attributes:
        key: the key of the document. Behind an alias, two documents with the same id are two hits.
        overlap: the requested measure, 0..1. By default, it is the Jaccard similarity of the shingles of the two
            documents.
        matched_token_count: number of tokens (hashes in the index) that the two documents share. For `jaccard`, they
            are tokens of the fingerprints, otherwise passage tokens.
        kind: `exact` if the overlap was computed from the texts, `estimated` if it was estimated from the fingerprints.
        fields: values of the requested fields.
        measures: all exact measures; None if the overlap is estimated.
        changed: whether the text has changed since it was indexed. Exact measures are computed from the current text.
    """

    key: DocumentKey
    overlap: float
    matched_token_count: int
    kind: Literal["estimated", "exact"] = "estimated"
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    measures: Measures | None = field(default=None, repr=False)
    changed: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class SearchResult(HitsResult[Hit]):
    """The documents that share text with a document or text. `print` shows the best hits.

    Attributes:
        query: the query, with the id of the document even if you passed a path or a file name. The id is empty for a
            text.
        plan: the plan that the store ran.
        candidate_count: number of documents that the plan found.
        hits: the hits on the page, by descending overlap, then by descending number of matching tokens, then by id and
            index. If documents with the same overlap and number of matching tokens do not all fit on the page, the
            store chooses among them.
        shingle_count: number of distinct shingles of the query document.
        measure: the measure that `Hit.overlap` contains.
        left_out: candidates that could not be compared, because their fingerprints are damaged.
        uncompared_count: number of candidates that were not compared, for example because they cannot change
            the hits on the page. Candidates that share the most are compared first.
        total: number of hits on all pages; None if unknown.
        is_total_exact: whether `total` is exact. Otherwise it is a lower bound.
        offset: number of hits before the first of `hits`.
        left_out_indices: indices behind an alias whose documents were not compared, with the reasons.
        changed: whether the text of the query document has changed since it was indexed. Its indexed fingerprint, which
            does not match the text, has found the candidates.
        text_note: a sentence, if similar documents are missing because the words of the text are not split. It is empty
            if the text is not read.
    """

    query: FingerprintQuery
    plan: Plan = field(repr=False)
    candidate_count: int
    hits: list[Hit]
    shingle_count: int = 0
    left_out: tuple[LeftOutDocument, ...] = ()
    measure: MeasureName = "jaccard"
    uncompared_count: int = 0
    total: int | None = None
    is_total_exact: bool = False
    offset: int = 0
    left_out_indices: tuple[LeftOutIndex, ...] = ()
    changed: bool = False
    text_note: str = ""

    @property
    def page_description(self) -> str:
        """The numbers of hits on this page, of hits on all pages, and of compared documents, for display."""
        count, total = len(self.hits), len(self.hits) if self.total is None else self.total
        at_least = self.total is not None and not self.is_total_exact
        hits = describe_shown_hits(count, total, self.offset, "hit", is_lower_bound=at_least)
        return f"{hits}, {describe_compared_documents(self.compared_count, self.candidate_count)}"

    @property
    def compared_count(self) -> int:
        """Number of candidates that were compared, by their tokens or texts."""
        return self.candidate_count - self.uncompared_count

    def __str__(self) -> str:
        query = printable(str(self.query)) if self.query.id else "the text"
        lines = [f"{query}: {self.page_description[0].lower()}{self.page_description[1:]}"]
        for hit in self.hits[:_PRINTED_HITS]:
            overlap = format_estimate(hit.overlap) if hit.kind == "estimated" else format_percent(hit.overlap)
            lines.append(f"{overlap:>7}  {printable(hit.id)}")
        if len(self.hits) > _PRINTED_HITS:
            lines.append(f"         and {len(self.hits) - _PRINTED_HITS} more")
        return "\n".join(lines)
