"""What two texts share, and in what they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simdoc_search.passages import Comparison


def comparison_as_json(comparison: Comparison, names: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
    """The comparison; `names` says what each text is, as `{"id": ...}` or `{"file": ...}`."""
    sides = zip(names, comparison.words, comparison.matched, comparison.covered, strict=True)
    a, b = (
        {**name, "words": words, "covered": {"words": matched, "share": share}} for name, words, matched, share in sides
    )
    measures = "jaccard", "containment", "contained"
    return {
        "a": a,
        "b": b,
        "passages": [{"a": each.a, "b": each.b, "words": each.words} for each in comparison.passages],
        "differences": [asdict(each) for each in comparison.differences],
        "signs": [asdict(each) for each in comparison.signs],
        "key_changes": [each._asdict() for each in comparison.key_changes],
        "details": {
            **{name: getattr(comparison, name) for name in measures},
            "multiset": dict(zip(measures, comparison.multiset, strict=True)),
            "estimate": comparison.estimate,
            "interval": list(comparison.interval),
        },
    }
