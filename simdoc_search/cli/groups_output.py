"""The option `--all` of the commands `versions` and `related`, and the output of the groups that it finds."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    Decorator,
    add_options,
    left_out_lines,
    open_text_file,
    print_json,
    say,
    stage_progress,
)
from simdoc_search.display import command_line, describe_shown_hits, format_count, format_more_hits_hint
from simdoc_search.durable import check_output_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simdoc_search.concepts import Synonyms
    from simdoc_search.groups import Families, Topic, Topics
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.search.version_order import VersionFamily

_MAX_MEMBERS, _MAX_NAMES = 20, 8
_CSV_COLUMNS = ("a", "b", "score", "kind", "group", "a_index", "a_routing", "b_index", "b_routing")


def all_documents_options(help_text: str, pairs: str) -> Decorator:
    """Return a decorator that adds `--all` with this help, and `--edges`, which writes these pairs."""
    return add_options(
        click.option("--all", "all_documents", is_flag=True, help=help_text),
        click.option("--edges", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                     help=f"With --all: write all {pairs} to FILE as CSV, with their scores."),
    )  # fmt: skip


def check_all_documents_options(all_documents: bool, edges: Path | None, other_arguments: Mapping[str, Any]) -> None:
    """Refuse `--all` with arguments that are for one document, and `--edges` without `--all`."""
    given = [name for name, value in other_arguments.items() if value]
    if all_documents and given:
        raise click.UsageError(f"--all compares all documents; omit {given[0]}")
    if edges is not None and not all_documents:
        raise click.UsageError("--edges writes the pairs that --all finds; add --all")
    if edges is not None:
        check_output_folder(edges)


def show_families(
    search: SimilaritySearch,
    options: dict[str, Any],
    page: tuple[int, int],
    edges: Path | None,
    *,
    use_git: bool,
    as_json: bool,
) -> None:
    """Find and print the families of versions. `page` is a pair of size and offset."""
    from simdoc_search.as_json.groups import families_as_json

    with stage_progress(hidden=as_json) as update:
        result = search.version_families(**options, progress=update)
    shown = [search.order_family(members, use_git=use_git) for members in result.families(*page)]
    if edges is not None:
        _write_edges(edges, result)
    if as_json:
        print_json(families_as_json(result, shown))
        return
    for number, family in enumerate(shown, page[1] + 1):
        for line in _family_lines(number, family):
            say(line)
    if note := next((family.question_mark_note for family in shown if family.question_mark_note), ""):
        say(note)
    nouns = "family", "families", "versions"
    _print_footer(result, result.family_count, len(shown), page[1], nouns, edges, _family_notes(result))
    if result.copy_group_count:
        groups = format_count(result.copy_group_count, "group of copies", "groups of copies")
        documents = format_count(result.copy_count, "document")
        command = command_line(search.store.location, "duplicates")
        say(f"not listed: {groups} ({documents}) with the same words and punctuation. To see them, run: {command}")
    if shown:
        last = shown[0].newest or [*shown[0].unordered, *shown[0].timeline][-1]
        command = command_line(search.store.location, "versions", last.name)
        say(f"to see what changed in family {page[1] + 1:,}, run: {command}", err=True)
        say(
            "to leave out most documents with other numbers, such as monthly invoices, add --max-distance 0 "
            "--min-share 70. This also leaves out versions with many edited sentences",
            err=True,
        )


def show_topics(
    search: SimilaritySearch,
    options: dict[str, Any],
    page: tuple[int, int],
    edges: Path | None,
    *,
    synonyms: Synonyms | None,
    as_json: bool,
) -> None:
    """Find and print the topics. `page` is a pair of size and offset."""
    from simdoc_search.as_json.groups import topics_as_json

    with stage_progress(hidden=as_json) as update:
        result = search.topics(**options, progress=update)
    shown = [(topic, search.name_topic(topic, synonyms=synonyms)) for topic in result.topics(*page)]
    if edges is not None:
        _write_edges(edges, result)
    if as_json:
        print_json(topics_as_json(result, shown))
        return
    for number, (topic, names) in enumerate(shown, page[1] + 1):
        for line in _topic_lines(number, topic, names):
            say(line)
    nouns = "topic", "topics", "related documents"
    _print_footer(result, result.topic_count, len(shown), page[1], nouns, edges, _topic_notes(result))


def _write_edges(path: Path, result: Families | Topics) -> None:
    """Write all pairs as CSV, with the number of their group, from 1.

    If the documents of a pair are not in the same group, the number is empty.
    """
    group_of = {key: number for number, group in enumerate(result.groups(), 1) for key in group}
    with open_text_file(path, newline="") as out:
        writer = csv.writer(out)
        writer.writerow(_CSV_COLUMNS)
        for a, b, score, kind in result.edges():
            group = group_of[a] if a in group_of and group_of[a] == group_of.get(b) else ""
            writer.writerow((a.id, b.id, f"{score:.6f}", kind, group, a.index, a.routing, b.index, b.routing))


def _family_lines(number: int, family: VersionFamily) -> Iterator[str]:
    count, width = len(family.timeline) + len(family.unordered), family.date_width
    yield f"family {number:,}: {format_count(count, 'version')}; {family.verdict}"
    for version in family.select_newest_entries(_MAX_MEMBERS):
        reason = family.describe_unknown_place(version)
        remark = "newest" if version is family.newest else reason and f"place in the order unknown: {reason}"
        yield f"  {family.date_label(version):>{width}}  {version.name}{f'  ({remark})' if remark else ''}"
    if count > _MAX_MEMBERS:
        yield f"  {'':>{width}}  and {count - _MAX_MEMBERS:,} more"
    yield from (f"  {'':>{width}}  {line}" for line in family.conflict_lines())
    yield ""


def _topic_lines(number: int, topic: Topic, names: Sequence[str]) -> Iterator[str]:
    topic_names = f": {', '.join(names[:_MAX_NAMES])}" if names else ""
    yield f"topic {number:,}: {format_count(1 + len(topic.members), 'document')}{topic_names}"
    yield f"{'centre':>15}  {topic.centre.id}"
    for member in topic.members[:_MAX_MEMBERS]:
        yield f"{member.score:>6.2f}  {member.kind:<7}  {member.key.id}"
    if len(topic.members) > _MAX_MEMBERS:
        yield f"{'':>15}  and {len(topic.members) - _MAX_MEMBERS:,} more"
    yield ""


def _family_notes(result: Families) -> Iterator[str]:
    if not result.found_all_similar_sentences:
        yield (
            "all equal sentences were compared, but only a sample of the similar ones. Versions without an equal "
            "sentence may be missing"
        )
    if result.frequent_sentence_document_count:
        documents_share = format_count(result.frequent_sentence_document_count, "document shares", "documents share")
        yield (
            f"{documents_share} a sentence with more than {result.frequent_sentence_limit} others. Such a document was "
            f"compared with only {result.max_compared_per_sentence} of the others, so versions may be missing"
        )


def _topic_notes(result: Topics) -> Iterator[str]:
    if result.partly_compared_document_count:
        documents_share = format_count(result.partly_compared_document_count, "document shares", "documents share")
        limit = result.max_compared_candidates
        yield (
            f"{documents_share} rare concepts with more than {limit} others. Such a document was only compared with "
            f"the {limit} others that share the most concepts"
        )
    if result.frequent_concept_count:
        concepts_are = format_count(result.frequent_concept_count, "concept is", "concepts are")
        yield (
            f"{concepts_are} in more than {result.frequent_concept_limit:,} documents. Such concepts count in scores, "
            f"but only {result.max_documents_per_concept} documents were found through each one"
        )
    if result.isolated_document_count:
        documents_share = format_count(result.isolated_document_count, "document shares", "documents share")
        yield f"{documents_share} no concept with any other document"


def _print_footer(
    result: Families | Topics,
    total: int,
    shown_count: int,
    offset: int,
    nouns: tuple[str, str, str],
    edges: Path | None,
    notes: Iterator[str],
) -> None:
    """Print a summary, the number of shown groups, the file of edges, and notes.

    `nouns` are a group, several groups, and the members of a group.
    """
    singular, plural, members = nouns
    documents = format_count(result.document_count, "document")
    groups = format_count(total, singular, plural)
    say(f"{groups} with {result.member_count:,} of {documents}" if total else f"no {members} among {documents}")
    if more := format_more_hits_hint(shown_count, total, offset):
        say(f"{describe_shown_hits(shown_count, total, offset, singular, plural=plural)}.{more}")
    if edges is not None:
        say(f"edges: {format_count(result.pair_count, 'pair')} written to {edges}")
    for note in notes:
        say(f"note: {note}", err=True)
    for line in left_out_lines([f"{key.id!r}: {reason}" for key, reason in result.left_out.items()]):
        say(line, err=True)
