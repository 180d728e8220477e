"""What two texts share, and in what they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simdoc_search.passages import Comparison

__all__ = ["comparison_as_json"]


def comparison_as_json(comparison: Comparison, names: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
    """The comparison; `names` says what each text is, as `{"id": ...}` or `{"file": ...}`."""
    multiset = dict(zip(("jaccard", "containment", "contained"), comparison.multiset, strict=True))
    sides = zip(names, comparison.words, comparison.covered, strict=True)
    a, b = ({**name, "words": words, "covered": covered} for name, words, covered in sides)
    return {
        "a": a,
        "b": b,
        "jaccard": comparison.jaccard,
        "containment": comparison.containment,
        "contained": comparison.contained,
        "multiset": multiset,
        "estimate": comparison.estimate,
        "interval": list(comparison.interval),
        "passages": [{"a": each.a, "b": each.b, "words": each.words} for each in comparison.passages],
        "differences": [asdict(each) for each in comparison.differences],
    }
