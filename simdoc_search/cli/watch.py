"""`simdoc-search watch`: finds out whether new documents are copies of watched documents."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.query_options import percent_type
from simdoc_search.display import format_count, format_estimate, format_percent

if TYPE_CHECKING:
    from simdoc_search.search.watches import WatchMatch
    from simdoc_search.stores.remote.watches import Watch


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID...]", shell_complete=complete_ids)
@click.option("--overlap", type=percent_type, metavar="PERCENT", help="Minimum overlap of a copy.  [default: 50]")
@click.option("--check-new", is_flag=True, help="Check whether the given documents are copies of watched documents.")
@click.option("--list", "lists_watches", is_flag=True, help="List the watched documents.")
@click.option("--remove", is_flag=True, help="Stop watching the given documents. This also works if they were deleted.")
@click.option("--watches", "watches_index", default="simdoc-watches", show_default=True, metavar="INDEX",
              help="Index in which the watches are stored.")  # fmt: skip
@index_options(reads_texts=False, needs_engine=True)
@json_option
def watch(
    ids: tuple[str, ...],
    overlap: Fraction | None,
    check_new: bool,
    lists_watches: bool,
    remove: bool,
    watches_index: str,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Watch documents, and check whether new ones are copies of them.

    ID is the id of a document, optionally with the minimum overlap of a copy, such as doc123_80.

    First, watch the documents of an index in OpenSearch or Elasticsearch. Then check new documents with --check-new. An
    application can instead check them with the search template simdoc-new-copies. To install this template, run:
    simdoc-search template install --search

    \b
      simdoc-search watch doc123_80 --store http://localhost:9200/articles
      simdoc-search watch --check-new new1 --store http://localhost:9200/articles
      simdoc-search watch --list --store http://localhost:9200/articles
      simdoc-search watch --remove doc123 --store http://localhost:9200/articles
    """
    from simdoc_search.search.watches import CopyWatches
    from simdoc_search.stores.location import parse_location

    if check_new + lists_watches + remove > 1 or (overlap is not None and (check_new or lists_watches or remove)):
        raise click.UsageError("--overlap, --check-new, --list and --remove cannot be combined; give only one of them")
    if bool(ids) == lists_watches:
        raise click.UsageError(
            "--list does not take an ID; omit the ID" if lists_watches else "give the ID of a document, or --list"
        )
    if isinstance(parse_location(index.location), Path):
        raise click.UsageError(
            "only documents in an index of OpenSearch or Elasticsearch can be watched; give its URL with --store"
        )
    copy_watches = CopyWatches(index.open(), watches_index)
    if remove:
        count = copy_watches.remove(ids)
        print_json({"removed_count": count}) if as_json else say(f"{format_count(count, 'watch', 'watches')} removed")
    elif check_new:
        matches = {id: copy_watches.find_matches(id) for id in ids}
        _print_matches(matches, as_json)
        watches = copy_watches.all()
        if outdated := sum(watch.is_outdated for watch in watches):
            outdated_watches = format_count(outdated, "watch is outdated and finds", "watches are outdated and find")
            say(f"note: {outdated_watches} no copies. To see which, run: {copy_watches.list_command}", err=True)
        if not (watches or any(matches.values())):
            say(f"note: the index {watches_index} has no watches for documents of {index.location}", err=True)
    else:
        watches = copy_watches.all() if lists_watches else [copy_watches.set(id, overlap=overlap) for id in ids]
        _print_watches(watches, as_json, lists_watches=lists_watches)


def _print_watches(watches: list[Watch], as_json: bool, *, lists_watches: bool) -> None:
    if as_json:
        print_json({"watched": [_watch_as_json(watch) for watch in watches]})
        return
    for watch in watches:
        overlap = format_percent(float(watch.overlap), 0 if (100 * watch.overlap).denominator == 1 else 1)
        outdated = "; outdated, so no copies are found until you watch the document again" if watch.is_outdated else ""
        since = f", since {watch.since}{outdated}" if lists_watches else ""
        say(f"{watch.key.id} is watched for copies with an overlap of {overlap} or more{since}")
    if not watches:
        say("no documents are watched")


def _print_matches(matches: dict[str, list[WatchMatch]], as_json: bool) -> None:
    if as_json:
        copies = {id: list(map(_match_as_json, originals)) for id, originals in matches.items()}
        print_json({"new_documents": [{"id": id, "copy_of": originals} for id, originals in copies.items()]})
        return
    for id, originals in matches.items():
        say(f"{id} is a copy of:" if originals else f"{id} is not a copy of a watched document")
        for match in originals:
            say(f"  {format_estimate(match.overlap)}  {match.watch.key.id}")


def _match_as_json(match: WatchMatch) -> dict[str, Any]:
    from simdoc_search.as_json.queries import key_as_json

    return {**key_as_json(match.watch.key), "overlap": match.overlap, "matched_token_count": match.matched_token_count}


def _watch_as_json(watch: Watch) -> dict[str, Any]:
    from simdoc_search.as_json.queries import key_as_json

    return {
        **key_as_json(watch.key),
        "overlap": float(watch.overlap),
        "since": watch.since,
        "outdated": watch.is_outdated,
    }
