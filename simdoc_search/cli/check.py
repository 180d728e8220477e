"""`simdoc-search check`: is a store as it was written, is an index fit for our queries?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import (
    document_progress,
    engine_option,
    errors_as_sentences,
    field_option,
    json_option,
    print_json,
    say,
)
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.stores.local.integrity import Damage
    from simdoc_search.stores.location import EngineKind


@click.command()
@click.argument("place", metavar="PATH|URL")
@field_option
@engine_option
@json_option
@errors_as_sentences
def check(place: str, field: str | None, engine: EngineKind | None, as_json: bool) -> None:
    """Say what is wrong with a store or with an index of an engine; exit code 1 if something is.

    Of a store in a folder all is read: every file and document has a checksum, and the index must find each document.
    Others may write to it meanwhile. Of an engine's index the mapping is looked at, and what to do is said.

    \b
      simdoc-search check ./.simdoc
      simdoc-search check http://localhost:9200/articles
    """
    from simdoc_search.stores.location import located

    found = located(place)
    if _check_store(found, as_json) if isinstance(found, Path) else _check_index(found, field, engine, as_json):
        raise SystemExit(1)


def _check_store(folder: Path, as_json: bool) -> bool:
    from simdoc_search.stores.local.integrity import check_store

    documents = 0
    with document_progress(hidden=as_json, of_total=True) as update:

        def progress(done: int, total: int) -> None:
            nonlocal documents
            documents = total
            update(completed=done, total=total)

        damages = list(check_store(folder, progress))
    if not damages:
        damages = _crafted(folder)
    if as_json:
        findings = [{"place": each.place, "problem": each.problem} for each in damages]
        print_json({"store": str(folder), "fit": not damages, "documents": documents, "findings": findings})
        return bool(damages)
    for each in damages:
        say(f"wrong: {each.place}: {each.problem}")
    if not damages:
        say(f"{folder} is as it was written: {documents:,} documents")
    return bool(damages)


def _crafted(folder: Path) -> list[Damage]:
    """Texts that are as they were written, and were written to mislead; a store of another's key is not looked into."""
    from simdoc_search.errors import FormatMismatchError
    from simdoc_search.stores.local.crafted_texts import crafted_texts
    from simdoc_search.stores.local.integrity import Damage

    try:
        found, number = crafted_texts(folder)
    except FormatMismatchError as error:
        say(f"note: its texts were not looked at: {error}", err=True)
        return []
    why = f"its words were chosen to look like any text ({number} texts were looked at); look at it"
    return [Damage(id, why) for id in found]


def _check_index(url: str, field: str | None, engine: EngineKind | None, as_json: bool) -> bool:
    from simdoc_search.attach.check import check_index
    from simdoc_search.stores.remote.connection import connect

    asked, index = connect(url, engine=engine)
    findings = check_index(asked, index, field)
    wrong = any(finding.wrong for finding in findings)
    if as_json:
        listed = [{"index": each.index, "wrong": each.wrong, "problem": each.problem} for each in findings]
        print_json({"url": f"{asked.name}/{index}", "fit": not wrong, "findings": listed})
        return wrong
    for finding in findings:
        say(f"{'wrong' if finding.wrong else 'note'}: {finding.index}: {finding.problem}")
    problems = counted(sum(finding.wrong for finding in findings), "problem")
    say(f"{index} is not fit: {problems}, see above" if wrong else f"{index} is fit for FINGERPRINT queries")
    return wrong
