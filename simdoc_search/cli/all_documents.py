"""`--all` of `versions` and `related`: the whole collection in families, or in topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdoc_search.cli.common import print_json, say, share_progress
from simdoc_search.cli.edges_file import check_edges, write_edges
from simdoc_search.display import counted, show_more, showing

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.concepts import Synonyms
    from simdoc_search.groups import Families, Topic, Topics
    from simdoc_search.search import SimilaritySearch, VersionFamily

    Command = TypeVar("Command", bound=Callable[..., Any])

_MEMBERS = 20
_NAMED = 8
_LEFT_OUT = 3


def all_options(what: str) -> Callable[[Command], Command]:
    """`--all` and `--edges`; `what` says what `--all` shows."""

    def both(command: Command) -> Command:
        edges = click.option(
            "--edges", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
            help="With --all: write all pairs, as CSV to FILE.csv or as a graph to FILE.graphml.",
        )  # fmt: skip
        return click.option("--all", "whole", is_flag=True, help=what)(edges(command))

    return both


def check_all(whole: bool, edges: Path | None, of_one: dict[str, Any]) -> None:
    """Refuse `--all` beside what is asked about one document, and `--edges` without it.

    Args:
        whole: whether `--all` was given.
        edges: what `--edges` was given.
        of_one: the arguments that say which document is asked about, or how the answer about one is shown.

    Raises:
        UsageError: they do not go together.
    """
    given = [name for name, value in of_one.items() if value]
    if whole and given:
        raise click.UsageError(f"--all looks at all documents; leave out {given[0]}")
    if edges is not None:
        if not whole:
            raise click.UsageError("--edges writes the pairs of --all; give --all too")
        check_edges(edges)


def show_families(
    search: SimilaritySearch,
    options: dict[str, Any],
    page: tuple[int, int],
    edges: Path | None,
    *,
    as_json: bool,
) -> None:
    """Find and print the families; `page` is size and offset."""
    from simdoc_search.as_json import families_as_json

    with share_progress(hidden=as_json) as update:
        found = search.version_families(**options, progress=update)
    shown = [search.ordered(each) for each in found.families(*page)]
    if edges is not None:
        write_edges(edges, found.edges(), found.groups())
    if as_json:
        print_json(families_as_json(found, shown))
        return
    for number, family in enumerate(shown, page[1] + 1):
        for line in _family_lines(number, family):
            say(line)
    found_in = f"{counted(found.member_count, 'document')} of {found.documents:,}"
    summary = f"{counted(found.family_count, 'family', 'families')} with {found_in}"
    _say_end(summary if found.family_count else f"no versions among {counted(found.documents, 'document')}",
             (len(shown), found.family_count, page[1]), edges, found.edge_count, "family", "families")  # fmt: skip
    _say_notes(found, _family_notes(found))


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
    shown = [(each, search.named(each, synonyms=synonyms)) for each in found.topics(*page)]
    if edges is not None:
        write_edges(edges, found.edges(), found.groups())
    if as_json:
        print_json(topics_as_json(found, shown))
        return
    for number, (topic, names) in enumerate(shown, page[1] + 1):
        for line in _topic_lines(number, topic, names):
            say(line)
    found_in = f"{counted(found.member_count, 'document')} of {found.documents:,}"
    summary = f"{counted(found.topic_count, 'topic')} with {found_in}"
    _say_end(summary if found.topic_count else f"no related documents among {counted(found.documents, 'document')}",
             (len(shown), found.topic_count, page[1]), edges, found.edge_count, "topic", "topics")  # fmt: skip
    _say_notes(found, _topic_notes(found))


def _family_lines(number: int, family: VersionFamily) -> Iterator[str]:
    members = [*family.timeline, *family.undated]
    yield f"family {number:,}: {counted(len(members), 'version')}; {family.verdict}"
    for each in members[-_MEMBERS:] if len(family.timeline) == len(members) else members[:_MEMBERS]:
        marks = "  (newest)" if each is family.newest else "  (undated)" if each in family.undated else ""
        yield f"{family.when(each):>14}  {each.name}{marks}"
    if len(members) > _MEMBERS:
        yield f"{'':>14}  and {len(members) - _MEMBERS:,} more"
    yield from (f"{'':>14}  conflict: {each}" for each in family.conflict)
    yield ""


def _topic_lines(number: int, topic: Topic, names: Sequence[str]) -> Iterator[str]:
    about = f": {', '.join(names[:_NAMED])}" if names else ""
    yield f"topic {number:,}: {counted(1 + len(topic.members), 'document')}{about}"
    yield f"{'centre':>15}  {topic.centre.id}"
    for each in topic.members[:_MEMBERS]:
        yield f"{each.score:>6.2f}  {each.kind:<7}  {each.place.id}"
    if len(topic.members) > _MEMBERS:
        yield f"{'':>15}  and {len(topic.members) - _MEMBERS:,} more"
    yield ""


def _say_end(
    summary: str, shown: tuple[int, int, int], edges: Path | None, edge_count: int, one: str, many: str
) -> None:
    count, total, offset = shown
    say(summary)
    if more := show_more(count, total, offset):
        say(f"{showing(count, total, offset, one, many=many)}.{more}")
    if edges is not None:
        say(f"edges: {edges}, {counted(edge_count, 'pair')}")


def _family_notes(found: Families) -> Iterator[str]:
    if not found.all_near:
        yield "all equal sentences were looked up, and a sample of the similar ones; a version that has no sentence "\
              "in common with the others word for word may be missing"  # fmt: skip
    if found.crowded:
        alike = counted(found.crowded, "document shares", "documents share")
        yield f"{alike} sentences with more than {found.most_owners} others; for these sentences each was "\
              f"compared with {found.anchors} of them, so a version may be missing"  # fmt: skip


def _topic_notes(found: Topics) -> Iterator[str]:
    if found.cut:
        alike = counted(found.cut, "document shares", "documents share")
        yield f"{alike} rare concepts with more than {found.most_compared} others; only "\
              f"the {found.most_compared} that share most were compared with each of them"  # fmt: skip
    if found.frequent:
        frequent = counted(found.frequent, "word of concepts is", "words of concepts are")
        yield f"{frequent} in more than {found.most_met:,} documents; these words count in scores, but by each of "\
              f"them only {found.anchors} documents were found"  # fmt: skip
    if found.alone:
        yield f"{counted(found.alone, 'document shares', 'documents share')} no concept with any other"


def _say_notes(found: Families | Topics, notes: Iterator[str]) -> None:
    for note in notes:
        say(f"note: {note}", err=True)
    left_out = list(found.left_out.items())
    for place, reason in left_out[:_LEFT_OUT]:
        say(f"left out: the document {place.id!r}: {reason}", err=True)
    if len(left_out) > _LEFT_OUT:
        say(f"left out: {len(left_out) - _LEFT_OUT:,} more like these; --json names them", err=True)
