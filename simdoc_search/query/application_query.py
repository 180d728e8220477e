"""Adds similarity to a request of an application: builds a clause for the query, and refines the hits."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, ScoreKind, to_dsl
from simdoc_search.query.planner import Planner, parse_fraction, plan
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode

_log = logging.getLogger(__name__)


class SimilarHit(NamedTuple):
    """A hit that is similar to the query document.

    Attributes:
        hit: the hit as returned by the engine.
        overlap: estimated overlap with the query document, 0..1.
        matched_token_count: number of fingerprint tokens that the hit shares with the query document.
    """

    hit: Mapping[str, Any]
    overlap: float
    matched_token_count: int


class Similar:
    """Extends a search request of an application so that it finds documents similar to a query document.

    Add `clause` to the application's query, which can also search for words, filter, and restrict permissions. The
    clause only selects candidates. Then pass the hits to `refine`, which adds their overlaps, and keeps the same hits
    as `SimilaritySearch.similar` without `verify`. If bands match more than 256 documents, hits near the overlap can
    differ, because `SimilaritySearch` then counts tokens instead. This class does not send requests. You can reuse an
    instance, and share it between threads.

    Args:
        tokens: the value of `field` in the query document. Read it with the permissions of the caller. For a text, use
            `from_text`. If there are no tokens, no document is similar.
        overlap: minimum Jaccard similarity, 0..1. None: any overlap, that is, more matching tokens than expected by
            chance.
        probability: probability of finding a document of exactly that overlap, greater than 0 and at most 1. None: 1.
        field: the field that contains the tokens.
        kind: `text` (a field of simdoc-search) or `terms` (a keyword field with one token per term).
        fingerprint_size_field: the field that contains each document's number of tokens: `simdoc.buckets` in the
            mapping of simdoc-search. If it is given, the engine excludes documents that are too short or too long to
            reach the overlap.
        planner: how tokens are divided into bands. `enough` makes as few bands as the probability requires. `all`
            divides all tokens, as Alfresco and Solr do.
        settings: settings of the fingerprints; None for the defaults.

    Attributes:
        tokens: the tokens as a tuple.
        plan: the plan of the query.
        source_fields: the fields that the `_source` of hits must contain for `refine`.

    Raises:
        QuerySyntaxError: the overlap or probability is out of range, or the planner is unknown.
    """

    def __init__(
        self,
        tokens: str | Sequence[str] | None,
        overlap: float | str | Fraction | None = None,
        probability: float | str | Fraction | None = None,
        *,
        field: str = "simdoc.tokens",
        kind: FieldKind = "text",
        fingerprint_size_field: str | None = None,
        planner: Planner = "enough",
        settings: Settings | None = None,
    ) -> None:
        self.tokens: tuple[str, ...] = tuple(tokens.split() if isinstance(tokens, str) else tokens or ())
        self.source_fields: list[str] = [field]
        self._field, self._kind, self._fingerprint_size_field = field, kind, fingerprint_size_field
        self._settings = settings or Settings()
        self._overlap = None if overlap is None else parse_fraction(overlap, "overlap")
        self.plan: Plan = plan(self.tokens, self._overlap, probability, planner=planner)

    @classmethod
    def from_text(
        cls,
        text: str,
        overlap: float | str | Fraction | None = None,
        probability: float | str | Fraction | None = None,
        *,
        settings: Settings | None = None,
        **options: Any,
    ) -> Similar:
        """Return an instance for a text.

        The text need not be in the index. No document is similar to a text without words.
        """
        settings = settings or Settings()
        tokens = fingerprint(text, settings.analysis, settings.sketch).tokens()
        return cls(tokens, overlap, probability, settings=settings, **options)

    def clause(
        self,
        *,
        filters: Sequence[dict[str, Any]] = (),
        exclude_id: str | None = None,
        score: ScoreKind = "tokens",
        max_clauses: int = MAX_CLAUSES,
    ) -> dict[str, Any]:
        """Return the clause. Add it to `must` of a `bool` query, or to `filter` to keep the scores of your own clauses.

        For the arguments and errors, see `simdoc_search.query.to_dsl`. `score="tokens"` sorts hits approximately by
        overlap.
        """
        return to_dsl(
            self.plan,
            self._field,
            kind=self._kind,
            fingerprint_size_field=self._fingerprint_size_field,
            filters=filters,
            exclude_id=exclude_id,
            score=score,
            max_clauses=max_clauses,
        )

    def refine(self, hits: Iterable[Mapping[str, Any]]) -> list[SimilarHit]:
        """Return the similar hits, in the same order.

        If there is an overlap but no probability, a hit is kept if its estimate reaches the overlap. If there is a
        probability, a hit is kept unless its estimate is more than 2.33 standard deviations, and one displaced shingle,
        below the overlap. This drops about 1 in 100 documents of exactly that overlap. Because hits are dropped,
        request several times as many hits as you show.

        Hits without tokens are dropped. Hits with unreadable tokens are dropped and logged.

        Args:
            hits: the hits of an engine, `response["hits"]["hits"]`. Their `_source` must contain `source_fields`.

        Raises:
            QuerySyntaxError: no hit has tokens in its `_source`. Or the tokens of the query document were created with
                different settings or by another program, for example by an engine's `min_hash` filter.
        """
        hits_and_values = [(hit, list(_read_values(hit.get("_source"), self._field.split(".")))) for hit in hits]
        if hits_and_values and not any(values for _, values in hits_and_values):
            raise QuerySyntaxError(
                f"no hit has {self._field} in its _source; add the field to the _source parameter of the request"
            )
        try:
            query_token_ids = self._decode(self.tokens)
        except ValueError as error:
            raise QuerySyntaxError(
                "cannot estimate the overlap of the hits, because the query document does not have tokens of "
                f"simdoc-search ({error})"
            ) from error
        refined = []
        for hit, values in hits_and_values:
            tokens = [token for value in values for token in str(value).split()]
            try:
                compared = self._settings.compare_tokens(query_token_ids, self._decode(tokens))
            except ValueError as error:
                _log.warning("skipping document %r, because its tokens cannot be read: %s", hit.get("_id"), error)
                continue
            if tokens and self.plan.is_hit(compared, self._overlap):
                refined.append(SimilarHit(hit, compared.overlap, compared.matched_token_count))
        return refined

    def _decode(self, tokens: Sequence[str]) -> NDArray[np.uint32]:
        """Return the ids of tokens in ascending order.

        Raises:
            ValueError: a token is malformed, or occurs more than once.
        """
        token_ids = np.unique(decode(tokens))
        if len(token_ids) < len(tokens):
            raise ValueError("a token occurs more than once")
        return token_ids


def _read_values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield the values at a path in a document. The document may contain objects, keys with dots, and lists."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _read_values(item, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        for count in range(1, len(path) + 1):
            yield from _read_values(value.get(".".join(path[:count])), path[count:])
