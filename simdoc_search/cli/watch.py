"""`simdoc-search watch`: tell which new documents are copies of this one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    errors_as_sentences,
    field_option,
    json_option,
    open_for_query,
    print_json,
    say,
    store_option,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.query_options import percent_type
from simdoc_search.display import estimate, percent

if TYPE_CHECKING:
    from simdoc_search.search.watches import Copied, Watching
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.stores.remote.watches import Watch


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID...]", shell_complete=complete_ids)
@click.option("--overlap", type=percent_type, metavar="PERCENT", help="Least overlap of a copy.  [default: 50]")
@click.option("--arrived", is_flag=True, help="Of which watched documents are these copies?")
@click.option("--list", "listed", is_flag=True, help="List what is watched.")
@click.option("--remove", "removed", is_flag=True, help="Watch for copies of these no longer; they may be gone.")
@click.option(
    "--watches", "name", default="simdoc-watches", show_default=True, metavar="INDEX", help="Where the watches are."
)
@field_option
@store_option
@json_option
@errors_as_sentences
def watch(
    ids: tuple[str, ...],
    overlap: Fraction | None,
    arrived: bool,
    listed: bool,
    removed: bool,
    name: str,
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Watch for copies of documents of an engine: a standing query for each, that new documents are asked.

    ID may have an overlap, like doc123_80. An application asks for its new documents by the search template
    simdoc-new-copies, see template install --search.

    \b
      simdoc-search watch doc123 --overlap 80 --store http://localhost:9200/articles
      simdoc-search watch --arrived new1 new2 --store http://localhost:9200/articles
      simdoc-search watch --list --store http://localhost:9200/articles
      simdoc-search watch --remove doc123 --store http://localhost:9200/articles
    """
    from simdoc_search.search.watches import Watching

    if arrived + listed + removed > 1 or (overlap is not None and (arrived or listed or removed)):
        raise click.UsageError("give one of --overlap, --arrived, --list and --remove")
    if bool(ids) == listed:
        raise click.UsageError("--list takes no ID" if listed else "give the ID of a document, or --list")
    watching = Watching(open_for_query(store, engine=engine, field=field), name)
    if listed:
        _list(watching, as_json)
    elif removed:
        count = watching.remove(ids)
        print_json({"removed": count}) if as_json else say(f"{count:,} removed")
    elif arrived:
        _print_copied({each: watching.copied_by(each) for each in ids}, as_json)
        if outdated := sum(each.outdated for each in watching.all()):
            say(f"note: {outdated:,} watched are of other settings, and find no copy; see watch --list", err=True)
    else:
        _print_set([watching.set(each, overlap=overlap) for each in ids], as_json)


def _list(watching: Watching, as_json: bool) -> None:
    found = watching.all()
    if as_json:
        print_json({"watched": list(map(_as_json, found))})
        return
    for each in found:
        of_others = "; of other settings than documents have now: set it anew" if each.outdated else ""
        say(f"{each.place.id}: copies of {_least(each)} or more, since {each.since}{of_others}")
    if not found:
        say("nothing is watched")


def _print_set(found: list[Watch], as_json: bool) -> None:
    if as_json:
        print_json({"watched": list(map(_as_json, found))})
        return
    for each in found:
        say(f"{each.place.id} is watched: copies of {_least(each)} or more")


def _print_copied(found: dict[str, list[Copied]], as_json: bool) -> None:
    if as_json:
        print_json({"arrived": [{"id": id, "copy_of": list(map(_copied_as_json, each))} for id, each in found.items()]})
        return
    for id, copied in found.items():
        say(f"{id} is a copy of" if copied else f"{id} is a copy of nothing that is watched")
        for each in copied:
            say(f"  {estimate(each.overlap)}  {each.watch.place.id}")


def _copied_as_json(each: Copied) -> dict[str, Any]:
    from simdoc_search.as_json import place_as_json

    return {**place_as_json(each.watch.place), "overlap": each.overlap, "matched": each.matched}


def _as_json(each: Watch) -> dict[str, Any]:
    from simdoc_search.as_json import place_as_json

    return {**place_as_json(each.place), "overlap": float(each.overlap), "since": each.since, "outdated": each.outdated}


def _least(each: Watch) -> str:
    return percent(float(each.overlap), 0 if (100 * each.overlap).denominator == 1 else 1)
