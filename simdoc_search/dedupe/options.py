"""The options that decide which rows are duplicates, and which ones are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from simdoc_search.dedupe.decontamination import DEFAULT_RUN_WORDS
from simdoc_search.dedupe.ranking import RowRule
from simdoc_search.duplicates.measures import Measure
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings


@dataclass(frozen=True, slots=True)
class DedupeOptions:
    """The options that decide which rows are duplicates.

    Attributes:
        text: the column with the texts; None to guess it.
        id: the column with the ids, for `duplicate_of`; None to use row numbers.
        overlap: the minimum overlap, greater than 0 and at most 1.
        keep: which row of a group is kept: `longest`, `first`, `max:COLUMN` or `min:COLUMN`.
        measure: how the overlap is measured. `jaccard`: Jaccard similarity. `containment`: share of the removed row
            that is also in the kept row. `reverse_containment`: share of the kept row that is also in the removed row.
        settings: settings of the sketches.
        run_words: number of consecutive words that a row must share with an evaluation text.

    Raises:
        QuerySyntaxError: an option is not valid.
    """

    text: str | None = None
    id: str | None = None
    overlap: float | Fraction = Fraction(4, 5)
    keep: str = "longest"
    measure: MeasureName = "jaccard"
    settings: Settings = field(default_factory=Settings)
    run_words: int = DEFAULT_RUN_WORDS

    def __post_init__(self) -> None:
        _ = self.overlap_measure, self.rule

    @property
    def overlap_measure(self) -> Measure:
        """The measure of overlap, and the minimum overlap."""
        return Measure(self.measure, parse_fraction(self.overlap, "overlap"))

    @property
    def rule(self) -> RowRule:
        """The rule that chooses the kept row."""
        return RowRule(self.keep, self.measure)

    def grouping_options(self) -> dict[str, Any]:
        """Return the options that the groups depend on."""
        return {"overlap": str(self.overlap_measure.min_overlap), "keep": self.keep, "measure": self.measure}
