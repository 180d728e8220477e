"""A question that an application asks by a request of its own: a clause for its query, and what becomes of its hits."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, Score, to_dsl
from simdoc_search.query.planner import Planner, exact, plan
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode

_log = logging.getLogger(__name__)


class SimilarHit(NamedTuple):
    """A hit that is one.

    Attributes:
        hit: as the engine gave it.
        overlap: how much it overlaps what was asked with, estimated from the tokens, 0..1.
        matched: how many tokens both have.
    """

    hit: Mapping[str, Any]
    overlap: float
    matched: int


class Similar:
    """Which documents share text with this one? For one request that is the application's own.

    `clause` goes into its query, beside its own words, filters and permissions; it only chooses candidates. `refine`
    keeps those of the hits that are similar, by the rules of `SimilaritySearch.similar`, and says how much they
    overlap. Nothing is sent, and what was asked may be kept and used by several threads.

    Args:
        tokens: those of the source: of a document what its field holds, read with the caller's rights; of a text see
            `of_text`. None or empty: nothing is similar.
        overlap: least Jaccard similarity, 0..1; None: any, that is more equal tokens than chance makes.
        probability: chance of finding a document of exactly that overlap, over 0, up to 1; None: certainly.
        field: the field that holds the tokens.
        kind: `text` (our field) or `terms` (a keyword field with a token each).
        buckets_field: the field that holds each document's number of tokens, `simdoc.buckets` in our mapping; with it
            the engine leaves out what is too short or too long to reach the overlap.
        planner: `enough`, `all` or the rows of a band, see `plan`.
        settings: how the fingerprints were made; None: the defaults.

    Attributes:
        tokens: as a tuple.
        plan: what is asked.
        parts: what hits must bring along in their `_source`, so that they can be refined.

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
        self._overlap = None if overlap is None else exact(overlap, "overlap")
        banded = self._settings.banded(len(self.tokens), self._overlap) if self._overlap else None
        self.plan: Plan = plan(self.tokens, self._overlap, probability, planner=planner, banded=banded)

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
        """The same for a text that need not be stored; a text without words has no tokens."""
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
        """The clause for the `must` of a `bool` query, or for its `filter`, if the scores are to be the application's.

        Args:
            filters: clauses of the application's own that may as well stand beside this one.
            exclude_id: the `_id` of a document to leave out, usually the source.
            score: what bands count, see `to_dsl`; with `tokens` those hits come first that overlap most, or nearly.
            max_clauses: the engine's clause limit.

        Raises:
            QuerySyntaxError: the kind of field is unknown, or there are more clauses than the engine allows.
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
        """The hits that are similar, in the order in which they came.

        With an overlap these are: without a probability those whose estimate reaches it; with one, those whose estimate
        does not rule it out (2.33 standard deviations: 1 in 100 documents of just that overlap is dropped). So fewer
        may be left than were asked for: ask for some times as many as are shown. A document that has no tokens of ours
        is left out; one with tokens that cannot be read, as others wrote them, too, which the logger says.

        Args:
            hits: of an engine's answer, `response["hits"]["hits"]`, with `parts` in their `_source`.

        Raises:
            QuerySyntaxError: no hit has tokens in its `_source`, or the source's own are none of ours, as those that an
                engine's `min_hash` filter makes, which no hit can bring along.
        """
        every = [(hit, list(_values(hit.get("_source"), self._field.split(".")))) for hit in hits]
        if every and not any(found for _, found in every):
            raise QuerySyntaxError(f"no hit has {self._field} in its _source; name it in the _source of the request")
        try:
            ours = self._codes(self.tokens)
        except ValueError as error:
            raise QuerySyntaxError(f"hits cannot be refined by tokens that are none of ours: {error}") from error
        refined = []
        for hit, found in every:
            theirs = self._read(hit, found)
            if theirs is None:
                continue
            shared, union = self._settings.estimate(ours, theirs)
            if self.plan.stays(shared, union, self._overlap):
                refined.append(SimilarHit(hit, shared / union, shared))
        return refined

    def _read(self, hit: Mapping[str, Any], found: list[Any]) -> NDArray[np.uint32] | None:
        """The codes of a hit; None if it has none, or none that can be read."""
        try:
            tokens = [token for each in found for token in str(each).split()]
            return self._codes(tokens) if tokens else None
        except ValueError as error:
            _log.warning("left out: the document %r has tokens that are none of ours (%s)", hit.get("_id"), error)
            return None

    def _codes(self, tokens: Sequence[str]) -> NDArray[np.uint32]:
        """Tokens as numbers, ascending, none twice."""
        codes = np.unique(decode(tokens, self._settings.token_length))
        if len(codes) < len(tokens):
            raise ValueError("some are there twice")
        return codes


def _values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands at a path of a document: in objects, at keys with dots in them, in lists of either."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _values(each, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        for count in range(1, len(path) + 1):
            yield from _values(value.get(".".join(path[:count])), path[count:])
