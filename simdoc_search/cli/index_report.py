"""What `simdoc-search index` says of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from simdoc_search.cli.common import say
from simdoc_search.display import counted
from simdoc_search.documents import Rejected, Skipped
from simdoc_search.indexing import IndexReport
from simdoc_search.indexing.skip_reasons import by_reason

_SHOWN = 20  # refused documents listed for people
_EXAMPLES = 3  # skipped files of one reason


def report_as_json(report: IndexReport) -> dict[str, Any]:
    """What `--json` prints of a run."""
    skipped = [_skipped(each) for each in report.skipped]
    return {**asdict(report), "skipped": skipped, "refused": refused_as_json(report.refused)}


def _skipped(each: Skipped) -> dict[str, Any]:
    """Of what another document overlaps too much also what is known of that."""
    said = {"path": each.path, "reason": each.reason}
    if not isinstance(each, Rejected):
        return said
    return {**said, "id": each.id, "duplicate_of": each.duplicate_of, "overlap": each.overlap, "exact": each.exact}


def refused_as_json(refused: Mapping[str, str]) -> list[dict[str, str]]:
    """What a store refused, one object a document."""
    return [{"id": id, "reason": reason} for id, reason in refused.items()]


def print_report(report: IndexReport) -> None:
    """The counts on stdout; what was skipped or refused on stderr."""
    counts = [f"{report.indexed:,} indexed", f"{report.unchanged:,} unchanged"]
    counts += [f"{getattr(report, name):,} {name}" for name in ("replaced", "deleted") if getattr(report, name)]
    if report.duplicates:
        counts.append(counted(report.duplicates, "duplicate id"))
    if report.skipped:
        counts.append(f"{len(report.skipped):,} skipped")
    if report.refused:
        counts.append(f"{len(report.refused):,} refused")
    say(", ".join(counts) + f" in {report.seconds:.1f} s")
    print_skipped(report.skipped)
    print_refused(report.refused)
    print_incomplete(report.incomplete)
    for note in report.notes:
        say(note, err=True)
    for problem in report.problems:
        say(f"Error: {problem}", err=True)


def print_refused(refused: Mapping[str, str]) -> None:
    """What a store refused, on stderr: the first ones, as there is mostly one reason for all."""
    for id, reason in islice(refused.items(), _SHOWN):
        say(f"  {id}: {reason}", err=True)
    if len(refused) > _SHOWN:
        say(f"  and {len(refused) - _SHOWN:,} more that the store refused; --json has all", err=True)


def print_incomplete(incomplete: Mapping[str, str]) -> None:
    """What was stored without sentences or concepts, on stderr: by what it lacks, with a few examples."""
    for lacked in sorted(set(incomplete.values())):
        some = [id for id, each in incomplete.items() if each == lacked]
        more = f" and {len(some) - _EXAMPLES:,} more" if len(some) > _EXAMPLES else ""
        shown = ", ".join(some[:_EXAMPLES]) + more
        say(f"  {len(some):,} stored without {lacked}, which could not be made: {shown}", err=True)


def print_skipped(skipped: Sequence[Skipped], *, advice: bool = True) -> None:
    """A line for each reason, with a few examples and perhaps an option of `index` that helps; what lists all."""
    groups = by_reason(skipped)
    for group in groups:
        count = len(group.examples)
        shown = ", ".join(group.examples[:_EXAMPLES]) + (
            f" and {count - _EXAMPLES:,} more" if count > _EXAMPLES else ""
        )
        helps = f"; {group.advice}" if advice and group.advice else ""
        say(f"  {count:,} {group.label}: {shown}{helps}", err=True)
    if any(len(group.examples) > _EXAMPLES for group in groups):
        say("  --json lists all of them", err=True)
