"""Converts the comparison of two texts to JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simdoc_search.passages import Comparison

_MEASURES = "jaccard", "containment", "reverse_containment"


def comparison_as_json(
    comparison: Comparison,
    names: tuple[Mapping[str, Any], Mapping[str, Any]],
    *,
    notes: Sequence[str] = (),
    have_same_bytes: bool | None = None,
) -> dict[str, Any]:
    """Convert a comparison.

    `names` are `{"id": ...}` or `{"file": ...}` of each text. `have_same_bytes` is None if one of them is not a file.
    """
    sides = zip(
        names,
        comparison.word_counts,
        comparison.matched_word_counts,
        comparison.covered_shares,
        comparison.equal_unmatched_word_counts,
        comparison.matched_different_word_counts,
        strict=True,
    )
    a, b = (
        {
            **name,
            "word_count": words,
            "covered": {"word_count": matched, "share": share},
            "equal_uncovered_word_count": equal,
            "covered_different_word_count": both,
        }
        for name, words, matched, share, equal, both in sides
    )
    return {
        "a": a,
        "b": b,
        "notes": list(notes),
        "passages": [
            {"a": passage.a, "b": passage.b, "word_count": passage.word_count} for passage in comparison.passages
        ],
        "differences": [asdict(difference) for difference in comparison.differences],
        "character_differences": [asdict(difference) for difference in comparison.character_differences],
        "row_differences": [asdict(difference) for difference in comparison.row_differences],
        "significant_changes": [change._asdict() for change in comparison.significant_changes],
        "details": {
            **{name: getattr(comparison, name) for name in _MEASURES},
            "multiset": dict(zip(_MEASURES, comparison.multiset, strict=True)),
            "estimate": comparison.estimate,
            "interval": list(comparison.interval),
        },
        "have_same_bytes": have_same_bytes,
    }
