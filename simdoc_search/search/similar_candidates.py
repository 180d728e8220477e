"""Finds the candidates of `similar`: plans queries, and runs many plans at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, SimdocError
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.options import SimilarOptions
from simdoc_search.stores.base import Candidates, Store
from simdoc_search.stores.record import Record


def plan_for(store: Store, query: FingerprintQuery, source: Record, options: SimilarOptions) -> Plan:
    """Return the plan of a query. Raises NoFingerprintError if the document has no tokens."""
    check_has_tokens(source)
    settings, overlap = store.settings, query.overlap
    tokens = source.tokens(settings.token_length)
    banded = settings.banded(len(tokens), overlap) if overlap else None
    verified = options.verify and store.store_texts
    return plan(tokens, overlap, query.probability, planner=options.planner, verified=verified, banded=banded)


def check_has_tokens(source: Record) -> None:
    """Check that a document can be compared.

    Raises:
        NoFingerprintError: it has no tokens; the message says why.
    """
    if len(source.codes):
        return
    name = f"the document {source.id!r}" if source.id else "the text"
    if source.fault:
        raise NoFingerprintError(f"{name} {source.fault}, so nothing can be compared with it")
    if source.id and not source.text_hash:
        raise NoFingerprintError(
            f"{name} has no fingerprint. Unless its text has no words, add one with: simdoc-search backfill URL "
            "--text-field FIELD"
        )
    if source.shingles:
        raise NoFingerprintError(
            f"{name} is too short for the sketch of the store, which keeps few shingles of a text. "
            "Index into a new store with another --sketch"
        )
    raise NoFingerprintError(f"{name} has no words, so nothing can be similar to it")


def run_plans(
    store: Store, plans: Sequence[tuple[Plan, Place | None]], options: SimilarOptions
) -> Iterator[Candidates | SimdocError]:
    """Yield the candidates of each plan, without the document at its place.

    All plans run at once, or one by one if one of them is larger than the store takes.
    """
    if not plans:
        return
    try:
        yield from store.candidates_of_many(plans, filters=options.filters, fields=options.fields)
    except QuerySyntaxError as error:
        if len(plans) == 1:
            yield error
            return
        for single in plans:
            yield from run_plans(store, [single], options)
