"""`--all` of `versions` and `related`: its options, and the families or topics that it shows."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdoc_search.cli.common import print_json, say, share_progress, text_file
from simdoc_search.display import counted, show_more, showing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simdoc_search.concepts import Synonyms
    from simdoc_search.groups import Families, Topic, Topics
    from simdoc_search.search import SimilaritySearch, VersionFamily

    Command = TypeVar("Command", bound=Callable[..., Any])

_MAX_MEMBERS, _MAX_NAMES, _MAX_LEFT_OUT = 20, 8, 3
_COLUMNS = ("a", "b", "score", "kind", "group", "a_index", "a_routing", "b_index", "b_routing")


def all_options(help_text: str) -> Callable[[Command], Command]:
    """Add `--all`, with this help, and `--edges`."""

    def add_options(command: Command) -> Command:
        edges = click.option(
            "--edges", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
            help="With --all: write all pairs as CSV.",
        )  # fmt: skip
        return click.option("--all", "whole", is_flag=True, help=help_text)(edges(command))

    return add_options


def check_all(whole: bool, edges: Path | None, of_one: Mapping[str, Any]) -> None:
    """Refuse `--all` with arguments for one document, given by name in `of_one`, and `--edges` without `--all`.

    Raises:
        UsageError: they do not fit together.
        ClickException: the folder of the file does not exist.
    """
    given = [name for name, value in of_one.items() if value]
    if whole and given:
        raise click.UsageError(f"--all compares all documents; leave out {given[0]}")
    if edges is not None and not whole:
        raise click.UsageError("--edges writes the pairs of --all; give --all too")
    if edges is not None and not edges.resolve().parent.is_dir():
        raise click.ClickException(f"{edges} cannot be written: no such file or directory")


def show_families(
    search: SimilaritySearch,
    options: dict[str, Any],
    page: tuple[int, int],
    edges: Path | None,
    *,
    version_control: bool,
    as_json: bool,
) -> None:
    """Find and print the families; `page` is size and offset."""
    from simdoc_search.as_json import families_as_json

    with share_progress(hidden=as_json) as update:
        found = search.version_families(**options, progress=update)
    shown = [search.ordered(members, version_control=version_control) for members in found.families(*page)]
    if edges is not None:
        _write_edges(edges, found)
    if as_json:
        print_json(families_as_json(found, shown))
        return
    for number, family in enumerate(shown, page[1] + 1):
        for line in _family_lines(number, family):
            say(line)
    total = found.family_count
    summary = f"{counted(total, 'family', 'families')} with {counted(found.member_count, 'document')}"
    say(f"{summary} of {found.documents:,}" if total else f"no versions among {counted(found.documents, 'document')}")
    _say_rest(found, total, len(shown), page[1], ("family", "families"), edges, _family_notes(found))


def show_topics(
    search: SimilaritySearch,
    options: dict[str, Any],
    page: tuple[int, int],
    edges: Path | None,
    *,
    synonyms: Synonyms | None,
    as_json: bool,
) -> None:
    """Find and print the topics; `page` is size and offset."""
    from simdoc_search.as_json import topics_as_json

    with share_progress(hidden=as_json) as update:
        found = search.topics(**options, progress=update)
    shown = [(topic, search.named(topic, synonyms=synonyms)) for topic in found.topics(*page)]
    if edges is not None:
        _write_edges(edges, found)
    if as_json:
        print_json(topics_as_json(found, shown))
        return
    for number, (topic, names) in enumerate(shown, page[1] + 1):
        for line in _topic_lines(number, topic, names):
            say(line)
    total = found.topic_count
    summary = f"{counted(total, 'topic')} with {counted(found.member_count, 'document')} of {found.documents:,}"
    say(summary if total else f"no related documents among {counted(found.documents, 'document')}")
    _say_rest(found, total, len(shown), page[1], ("topic", "topics"), edges, _topic_notes(found))


def _write_edges(path: Path, found: Families | Topics) -> None:
    """Write all pairs as CSV, with the number of their group, from 1; empty if they are in different groups."""
    group_of = {place: number for number, group in enumerate(found.groups(), 1) for place in group}
    with text_file(path, newline="") as out:
        writer = csv.writer(out)
        writer.writerow(_COLUMNS)
        for a, b, score, kind in found.edges():
            group = group_of[a] if a in group_of and group_of[a] == group_of.get(b) else ""
            writer.writerow((a.id, b.id, f"{score:.6f}", kind, group, a.index, a.routing, b.index, b.routing))


def _family_lines(number: int, family: VersionFamily) -> Iterator[str]:
    members = [*family.timeline, *family.undated]
    yield f"family {number:,}: {counted(len(members), 'version')}; {family.verdict}"
    for version in members[:_MAX_MEMBERS] if family.undated else members[-_MAX_MEMBERS:]:
        mark = "  (newest)" if version is family.newest else "  (undated)" if version in family.undated else ""
        yield f"{family.when(version):>14}  {version.name}{mark}"
    if len(members) > _MAX_MEMBERS:
        yield f"{'':>14}  and {len(members) - _MAX_MEMBERS:,} more"
    yield from (f"{'':>14}  conflict: {conflict}" for conflict in family.conflict)
    yield ""


def _topic_lines(number: int, topic: Topic, names: Sequence[str]) -> Iterator[str]:
    about = f": {', '.join(names[:_MAX_NAMES])}" if names else ""
    yield f"topic {number:,}: {counted(1 + len(topic.members), 'document')}{about}"
    yield f"{'centre':>15}  {topic.centre.id}"
    for member in topic.members[:_MAX_MEMBERS]:
        yield f"{member.score:>6.2f}  {member.kind:<7}  {member.place.id}"
    if len(topic.members) > _MAX_MEMBERS:
        yield f"{'':>15}  and {len(topic.members) - _MAX_MEMBERS:,} more"
    yield ""


def _family_notes(found: Families) -> Iterator[str]:
    if not found.all_near:
        yield (
            "all equal sentences were looked up, and a sample of the similar ones; "
            "a version without a verbatim sentence may be missing"
        )
    if found.crowded:
        documents = counted(found.crowded, "document shares", "documents share")
        yield (
            f"{documents} sentences with more than {found.most_owners} others; by these sentences, each was compared "
            f"with only {found.anchors} of them, so a version may be missing"
        )


def _topic_notes(found: Topics) -> Iterator[str]:
    if found.cut:
        documents = counted(found.cut, "document shares", "documents share")
        yield (
            f"{documents} rare concepts with more than {found.most_compared} others; each was compared with only the "
            f"{found.most_compared} that share most"
        )
    if found.frequent:
        concepts = counted(found.frequent, "concept is", "concepts are")
        yield (
            f"{concepts} in more than {found.most_met:,} documents; they count in scores, but only {found.anchors} "
            "documents were found by each of them"
        )
    if found.alone:
        yield f"{counted(found.alone, 'document shares', 'documents share')} no concept with any other"


def _say_rest(
    found: Families | Topics,
    total: int,
    shown: int,
    offset: int,
    names: tuple[str, str],
    edges: Path | None,
    notes: Iterator[str],
) -> None:
    """Print what follows the summary: what is shown, where the edges are, and notes."""
    if more := show_more(shown, total, offset):
        say(f"{showing(shown, total, offset, names[0], many=names[1])}.{more}")
    if edges is not None:
        say(f"edges: {edges}, {counted(found.edge_count, 'pair')}")
    for note in notes:
        say(f"note: {note}", err=True)
    left_out = list(found.left_out.items())
    for place, reason in left_out[:_MAX_LEFT_OUT]:
        say(f"left out: the document {place.id!r}: {reason}", err=True)
    if len(left_out) > _MAX_LEFT_OUT:
        say(f"left out: {len(left_out) - _MAX_LEFT_OUT:,} more like these; --json names them", err=True)
