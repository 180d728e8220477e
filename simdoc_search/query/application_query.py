"""Adds similarity to an application's own request. It makes a clause for the query, and refines the hits."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, Score, to_dsl
from simdoc_search.query.planner import Planner, parse_fraction, plan
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode

_log = logging.getLogger(__name__)


class SimilarHit(NamedTuple):
    """A hit that is similar to the source document.

    Attributes:
        hit: the hit as returned by the engine.
        overlap: estimated overlap with the source document, 0..1.
        matched: number of tokens that it shares with the source document.
    """

    hit: Mapping[str, Any]
    overlap: float
    matched: int


class Similar:
    """Finds documents similar to a source document within one request of an application.

    Put `clause` into the application's query, next to its own words, filters and permissions. The clause only selects
    candidates. Then pass the hits to `refine`. It keeps similar hits by the rules of `SimilaritySearch.similar`, and
    adds their overlaps. This class does not send requests. An instance can be reused, and shared between threads.

    Args:
        tokens: the content of the source document's field `field`. Read it with the permissions of the caller. For a
            text, use `of_text`. With None or no tokens, no document is similar.
        overlap: minimum Jaccard similarity, 0..1. None: any overlap, that is, more equal tokens than by chance.
        probability: probability of finding a document of exactly that overlap, over 0, up to 1. None: certainty.
        field: the field with the tokens.
        kind: `text` (a field of simdoc-search) or `terms` (a keyword field with one token per term).
        buckets_field: the field with each document's number of tokens, which is `simdoc.buckets` in the mapping of
            simdoc-search. With it, the engine leaves out documents that are too short or too long to reach the overlap.
        planner: `enough` or `all`; see `plan`.
        settings: settings of the fingerprints; None for the defaults.

    Attributes:
        tokens: the tokens as a tuple.
        plan: the plan of the query.
        parts: the fields that `refine` needs in the `_source` of hits.

    Raises:
        QuerySyntaxError: a number is out of range, or the planner is unknown.
    """

    def __init__(
        self,
        tokens: str | Sequence[str] | None,
        overlap: float | str | Fraction | None = None,
        probability: float | str | Fraction | None = None,
        *,
        field: str = "simdoc.tokens",
        kind: FieldKind = "text",
        buckets_field: str | None = None,
        planner: Planner = "enough",
        settings: Settings | None = None,
    ) -> None:
        self.tokens: tuple[str, ...] = tuple(tokens.split() if isinstance(tokens, str) else tokens or ())
        self.parts: list[str] = [field]
        self._field, self._kind, self._buckets_field = field, kind, buckets_field
        self._settings = settings or Settings()
        self._overlap = None if overlap is None else parse_fraction(overlap, "overlap")
        self.plan: Plan = plan(self.tokens, self._overlap, probability, planner=planner)

    @classmethod
    def of_text(
        cls,
        text: str,
        overlap: float | str | Fraction | None = None,
        probability: float | str | Fraction | None = None,
        *,
        settings: Settings | None = None,
        **options: Any,
    ) -> Similar:
        """Return an instance for a text that need not be stored. Nothing is similar to a text without words."""
        settings = settings or Settings()
        tokens = fingerprint(text, settings.analysis, settings.minhash).tokens(length=settings.token_length)
        return cls(tokens, overlap, probability, settings=settings, **options)

    def clause(
        self,
        *,
        filters: Sequence[dict[str, Any]] = (),
        exclude_id: str | None = None,
        score: Score = "tokens",
        max_clauses: int = MAX_CLAUSES,
    ) -> dict[str, Any]:
        """Return the clause. Put it into the `must` of a `bool` query, or into its `filter` to keep your own scores.

        For the arguments and errors, see `to_dsl`. With the score `tokens`, hits are approximately sorted by overlap.
        """
        return to_dsl(
            self.plan,
            self._field,
            kind=self._kind,
            buckets_field=self._buckets_field,
            filters=filters,
            exclude_id=exclude_id,
            score=score,
            max_clauses=max_clauses,
        )

    def refine(self, hits: Iterable[Mapping[str, Any]]) -> list[SimilarHit]:
        """Return the hits that are similar, in the same order.

        With an overlap but no probability, a hit is kept if its estimate reaches the overlap. With a probability, it is
        kept unless its estimate rules the overlap out. The limit is 2.33 standard deviations, so 1 in 100 documents of
        exactly that overlap is dropped. Because hits are dropped, request several times as many as you show.

        Hits without tokens are left out. Hits with unreadable tokens are left out, too, and are logged.

        Args:
            hits: `response["hits"]["hits"]` of an engine's response. Their `_source` must contain `parts`.

        Raises:
            QuerySyntaxError: no hit has tokens in its `_source`, or the tokens of the source document were not made by
                simdoc-search. Hits cannot be refined by the terms of an engine's `min_hash` filter, for example.
        """
        rows = [(hit, list(_values(hit.get("_source"), self._field.split(".")))) for hit in hits]
        if rows and not any(values for _, values in rows):
            raise QuerySyntaxError(
                f"no hit has {self._field} in its _source; add the field to the _source of the request"
            )
        try:
            source_codes = self._codes(self.tokens)
        except ValueError as error:
            raise QuerySyntaxError(
                f"cannot refine hits, because the source document has no tokens of simdoc-search: {error}"
            ) from error
        refined = []
        for hit, values in rows:
            tokens = [token for value in values for token in str(value).split()]
            try:
                shared, union = self._settings.estimate(source_codes, self._codes(tokens))
            except ValueError as error:
                _log.warning("left out document %r, because its tokens are not readable: %s", hit.get("_id"), error)
                continue
            if tokens and self.plan.is_hit(shared, union, self._overlap):
                refined.append(SimilarHit(hit, shared / union, shared))
        return refined

    def _codes(self, tokens: Sequence[str]) -> NDArray[np.uint32]:
        """Return the codes of tokens, ascending.

        Raises:
            ValueError: a token is malformed, or occurs twice.
        """
        codes = np.unique(decode(tokens, self._settings.token_length))
        if len(codes) < len(tokens):
            raise ValueError("a token occurs twice")
        return codes


def _values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield the values at a path of a document. It may lead through objects, keys with dots, and lists of objects."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _values(item, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        for count in range(1, len(path) + 1):
            yield from _values(value.get(".".join(path[:count])), path[count:])
