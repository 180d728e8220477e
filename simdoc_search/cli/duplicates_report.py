"""What `simdoc-search duplicates` says: groups for people, one JSON object, pairs as CSV."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.as_json import cluster_as_json, duplicates_head, duplicates_tail, pair_as_json
from simdoc_search.cli.common import say, text_file, with_left_out
from simdoc_search.display import counted, format_bytes, safe_json, show_more, showing
from simdoc_search.duplicates import Duplicates, Group, Kept
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE
from simdoc_search.errors import CorpusError
from simdoc_search.passages.report.summary import difference_said, words_differing

if TYPE_CHECKING:
    from simdoc_search.duplicates.mark_update import MarkReport

_FEW_LEFT_OUT = 3
_DIFFERENCES = 3  # places that are quoted
_PAIR = ("a", "b", "overlap", "kind", "exact", "a_index", "a_routing", "b_index", "b_routing")


def print_for_people(
    found: Duplicates, limit: int | None, *, with_differences: bool = False, asked_to_estimate: bool = False
) -> None:
    """The groups and the summary on stdout; what there is to know of them on stderr."""
    for group in found.groups(limit):
        _print_group(group, _differences(found, group) if with_differences else {})
    say(summary(found))
    if limit is not None and (more := show_more(limit, found.group_count, option="--limit")):
        say(f"{showing(limit, found.group_count, what='group')}.{more}")
    for note in notes(found, asked_to_estimate):
        say(f"note: {note}", err=True)


def print_as_json(
    found: Duplicates,
    keep: str,
    limit: int | None,
    problems: list[str],
    *,
    with_differences: bool = False,
    marks: MarkReport | None = None,
) -> None:
    """One JSON object on stdout, written as it is made: there may be millions of pairs."""
    head = with_left_out(duplicates_head(found, keep))
    tail = {
        **duplicates_tail(found),
        "problems": problems,
        **({} if marks is None else {"marks": asdict(marks)}),
    }
    click.echo("{" + _inside(head), nl=False)
    clusters = (
        cluster_as_json(group, _differences(found, group) if with_differences else None)
        for group in found.groups(limit)
    )
    for name, values in (("clusters", clusters), ("pairs", map(pair_as_json, found.pairs()))):
        click.echo(f',\n"{name}": [', nl=False)
        _print_list(values)
        click.echo("]", nl=False)
    click.echo(",\n" + _inside(tail) + "}")


def check_outputs(csv_file: str | None, html: Path | None, folders: Iterable[str], *, as_json: bool) -> None:
    """Refuse files that cannot be written, or that would overwrite a document, before anything is done.

    Raises:
        UsageError: both JSON and CSV would go to stdout, or a page.
        CorpusError: there is no such folder, or the file is there in a folder that is indexed.
    """
    if csv_file == "-" and as_json:
        raise click.UsageError("give --json or --csv -, as both go to stdout")
    if str(html) == "-":
        raise click.UsageError("--html takes the name of a file")
    for each in [str(each) for each in (csv_file, html) if each is not None and each != "-"]:
        path = Path(each).resolve()
        if not path.parent.is_dir():
            raise CorpusError(f"{each} cannot be written: no such file or directory")
        if path.exists() and any(path.is_relative_to(Path(folder).resolve()) for folder in folders):
            raise CorpusError(f"{each} may be a document, as it lies in a folder that is indexed; name another file")


def write_csv(found: Duplicates, file: str) -> None:
    """All pairs as CSV with the columns of `_PAIR`; overlaps are 0..1, index and routing are empty in a local store.

    Raises:
        ClickException: the file cannot be written.
    """
    with nullcontext(sys.stdout) if file == "-" else text_file(Path(file), newline="") as out:
        writer = csv.DictWriter(out, _PAIR)
        writer.writeheader()
        for each in found.pairs():
            shown = {"overlap": f"{each.overlap:.6f}", "exact": str(each.exact).lower()}
            writer.writerow({**pair_as_json(each), **shown})
        out.flush()


def _print_group(group: Group, differences: Mapping[int, list[str]]) -> None:
    say(f"{'keep':>8}  {_described(group.kept)}")
    for each in group.duplicates:
        say(f"{each.action:>8}  {_described(each)}  ({each.reason})")
        for line in differences.get(each.number, []):
            say(f"{'':>12}{line}")
    say()


def _differences(found: Duplicates, group: Group) -> dict[int, list[str]]:
    """What differs, by the number of each near duplicate: how much in all, and the first places."""
    return {
        each.number: [
            words_differing(comparison),
            *(difference_said(part, *texts) for part in comparison.differences[:_DIFFERENCES]),
        ]
        for each, comparison, texts in found.compared(group)
    }


def _described(each: Kept) -> str:
    size, date, name = parts(each)
    return f"{size:>11}  {date:>10}  {name}"


def parts(each: Kept) -> tuple[str, str, str]:
    """Size, date, and the path as a shell takes it; the id where there is no file."""
    size = "" if each.size is None else format_bytes(each.size)
    date = "" if each.changed is None else f"{datetime.fromtimestamp(each.changed / 1e9, timezone.utc):%Y-%m-%d}"
    return size, date, _name(each)


def _name(each: Kept) -> str:
    if each.path is None:
        return each.id if each.place.index is None else f"{each.place.index}/{each.id}"
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - as text
    return each.path.removeprefix(here)


def summary(found: Duplicates) -> str:
    """What was found, in a sentence."""
    if not found.group_count:
        of_new = "" if found.fresh == found.documents else f" of {counted(found.fresh, 'new document')}"
        return f"no duplicates{of_new} among {counted(found.documents, 'document')}"
    counts = f"{counted(found.group_count, 'group')}, {counted(found.duplicate_count, 'duplicate')}"
    to_decide = f"{found.drops:,} to drop, {found.duplicate_count - found.drops:,} to decide"
    saved = f", {format_bytes(found.frees)} to save" if found.frees else ""
    return f"{counts}: {to_decide}{saved}"


def notes(found: Duplicates, asked_to_estimate: bool) -> Iterator[str]:
    """What a person ought to know of the result."""
    if found.fresh < found.documents and found.group_count:
        yield f"compared with all {found.documents:,}: {counted(found.fresh, 'new document')}; the others stay"
    if not found.verified:
        why = "--estimate was asked for" if asked_to_estimate else "the store has no texts"
        yield f"overlaps are estimated from the fingerprints, as {why}; near the threshold some are wrong"
    elif found.unverified:
        yield f"{counted(found.unverified, 'overlap')} could not be verified for want of a text: estimated"
    if found.floods:
        alike = counted(found.floods.documents, "document")
        yield (
            f"{alike} look so much alike, over {found.floods.limit:,} of one kind, that each was compared with a few "
            "of them instead of all"
        )
        if found.floods.left_over:
            left_over = counted(found.floods.left_over, "comparison")
            yield f"at most {left_over} were not made there, so a duplicate may be missing"
    if found.ignored:
        yield f"{counted(found.ignored, 'word is', 'words are')} ignored in the documents whose texts were compared"
    for root, count in found.gone.items():
        command = shlex.join(["simdoc-search", "index", root, "--prune"])
        files = "file is gone" if count == 1 else "files are gone"
        yield f"left out: {counted(count, 'document')} of {root}, whose {files}. Remove from the index with: {command}"
    others = [(place.id, reason) for place, reason in found.left_out.items() if reason not in (FILE_GONE, ARCHIVE_GONE)]
    for id, reason in others[:_FEW_LEFT_OUT]:
        yield f"left out: the document {id!r}: {reason}"
    if len(others) > _FEW_LEFT_OUT:
        yield f"left out: {len(others) - _FEW_LEFT_OUT:,} more like these; --json names them"


def _inside(values: dict[str, Any]) -> str:
    """The members of a JSON object, a line each, without its braces."""
    return ",\n".join(f"{json.dumps(name)}: {_json(value)}" for name, value in values.items())


def _print_list(values: Iterable[dict[str, Any]]) -> None:
    for number, value in enumerate(values):
        click.echo(("," if number else "") + "\n" + _json(value), nl=False)


def _json(value: Any) -> str:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(value, ensure_ascii=not is_unicode))
