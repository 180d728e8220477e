"""Near-duplicates in a page of results, folded under the first of them by the tokens that the hits bring along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np

from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.table import Ints, Table, slices, true_in_row
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.base import Codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode_text, hash_bits
from simdoc_search.stores.remote.records import codes_of

_AT_ONCE = 256  # hits, of which it is counted how many buckets each has in common with all

EngineHit = TypeVar("EngineHit", bound=Mapping[str, Any])


class NearHit(NamedTuple):
    """A hit that is folded away.

    Attributes:
        hit: as the engine gave it.
        overlap: how much it overlaps the hit that is shown, estimated from the tokens, 0..1.
    """

    hit: Mapping[str, Any]
    overlap: float


class FoldedHit(NamedTuple):
    """A hit that is shown.

    Attributes:
        hit: as the engine gave it.
        near: the later hits that overlap it enough, in their order.
    """

    hit: Mapping[str, Any]
    near: list[NearHit]


def fold_near_duplicates(
    hits: Iterable[EngineHit],
    overlap: float | Fraction = Fraction(4, 5),
    *,
    field: str = "simdoc",
    settings: Settings | None = None,
) -> list[FoldedHit]:
    """Fold a page of results: each hit that is nearly one before it goes under the first such hit. Nothing is asked.

    Each was compared with the hit that is shown, by itself: there are no chains. A hit without a fingerprint in its
    `_source`, or with one that cannot be read, is shown as it is.

    Args:
        hits: of an engine's answer, `response["hits"]["hits"]`, in the order in which they are shown. In `_source` they
            have the tokens: ask for `"_source": [..., "simdoc.tokens"]`.
        overlap: the least Jaccard similarity that folds, as the tokens estimate it; over 0, up to 1.
        field: the object field of the fingerprint.
        settings: how fingerprints were made, as for `fingerprint_actions`; None: the defaults.

    Returns:
        The hits that are shown, in order, each with those folded under it. No hit is lost, and none is changed.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """
    least = Measure("jaccard", parse_fraction(overlap, "overlap")).overlap
    settings = settings or Settings()
    every = list(hits)
    codes = _fingerprints([each.get("_source") or {} for each in every], settings.token_length, field)
    numbers = list(codes)
    shown: dict[int, list[NearHit]] = {number: [] for number in range(len(every))}
    for first, second, share in _folded(list(codes.values()), settings, least):
        shown[numbers[first]].append(NearHit(every[numbers[second]], share))
        del shown[numbers[second]]
    return [FoldedHit(every[number], near) for number, near in shown.items()]


def _fingerprints(sources: Sequence[Mapping[str, Any]], length: int, field: str) -> dict[int, Codes]:
    """The codes of the documents that have some that can be read, by number: all at once those that are as we write."""
    plain = {number: text for number, each in enumerate(sources) if (text := _as_written(each, length, field))}
    counts = [(len(text) + 1) // (length + 1) for text in plain.values()]
    together = np.zeros(0, np.uint32)
    with suppress(ValueError):
        together = decode_text(" ".join(plain.values()), length)
    found: dict[int, Codes | str] = {}
    if plain and len(together) == sum(counts):
        found.update(zip(plain, np.split(together, np.cumsum(counts)[:-1]), strict=True))
    for number, source in enumerate(sources):
        if number not in found:
            found[number] = codes_of(source, length, field=field)
    return {number: codes for number, codes in sorted(found.items()) if not isinstance(codes, str)}


def _as_written(source: Mapping[str, Any], length: int, field: str) -> str | None:
    """The tokens of a document that has them in one text, and of such a length."""
    above = source.get(field)
    tokens = above.get("tokens") if isinstance(above, dict) and f"{field}.tokens" not in source else None
    return tokens if isinstance(tokens, str) and len(tokens) % (length + 1) == length else None


def _folded(codes: list[Codes], settings: Settings, least: Fraction) -> Iterator[tuple[int, int, float]]:
    """Who is folded under whom, as early as can be, and how much the two overlap: `estimate.shared_and_union`."""
    counts: Ints = np.array([len(each) for each in codes], np.int64)
    bits = hash_bits(settings.minhash, settings.token_length)
    board = Table.of(codes, counts, bits, settings.minhash.places).board(np.arange(len(codes)))
    is_filled = (board != 0).astype(np.float32)
    others = np.where(board == 0, np.iinfo(board.dtype).max, board)  # what is empty is equal to nothing
    is_shown = np.ones(len(codes), bool)
    for some in slices(len(codes), _AT_ONCE):
        filled_in_both = (is_filled[some] @ is_filled.T).astype(np.int64)
        for one in np.arange(len(codes))[some].tolist():
            if not is_shown[one]:
                continue
            after = slice(one + 1, None)
            shared = true_in_row(board[one] == others[after])
            union = counts[one] + counts[after] - filled_in_both[one - some.start, after]
            near = np.flatnonzero(is_shown[after] & (shared * least.denominator >= union * least.numerator))
            is_shown[one + 1 + near] = False
            yield from ((one, one + 1 + each, shared[each] / union[each]) for each in near.tolist())
