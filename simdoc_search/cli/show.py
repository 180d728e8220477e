"""`simdoc-search show`: what does the store have of this document?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import linked
from simdoc_search.cli.common import errors_as_sentences, field_options, json_option, print_json, say, store_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.sketch_options import synonyms_option
from simdoc_search.display import counted, printable

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.stores.record import Record

_BEGINNING = 10  # lines
_MOST = 1_000  # characters of them


@click.command()
@click.argument("id", metavar="ID", shell_complete=complete_ids)
@click.option("--text", "whole", is_flag=True, help="Print the whole text, and nothing else.")
@click.option(
    "--concepts", is_flag=True, help="List its concepts: what each weighs, and which words of the text led to it."
)
@synonyms_option("With --concepts: the synonyms that the index was made with, to name what they led to.")
@field_options
@store_option
@json_option
@errors_as_sentences
def show(
    id: str,
    whole: bool,
    concepts: bool,
    synonyms: Path | None,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show a document: its file, sizes, dates and metadata, and how its text begins.

    ID is a document's id, the path of its file, or its file name if only one document has it.

    \b
      simdoc-search show doc123
      simdoc-search show ./corpus/reports/half.txt --text
      simdoc-search show doc123 --concepts                 what the index knows it is about
    """
    from simdoc_search.cli.show_concepts import show_concepts
    from simdoc_search.errors import NoTextError, UnknownDocumentError
    from simdoc_search.search.columns import Columns
    from simdoc_search.search.resolver import Resolver

    if whole and concepts:
        raise click.UsageError("give --text or --concepts, not both")
    if synonyms is not None and not concepts:
        raise click.UsageError("--synonyms names concepts; give --concepts too")
    columns = Columns(["path", "size", "date"])
    with open_to_ask(store, engine=engine, text_field=text_fields, field=field) as opened:
        resolver = Resolver(opened)
        place = resolver.record(resolver.resolve(id, overlap=0).id).place
        if concepts:
            show_concepts(opened, place, synonyms, as_json=as_json)
            return
        record = next(iter(columns.read(opened, [place], text=True)), None)
    if record is None:  # another process removed it just now
        raise UnknownDocumentError(id, [])
    values = columns.of(record)
    if as_json:
        print_json(_as_json(record, values))
    elif whole:
        if record.text is None:
            raise NoTextError(record.id)
        for line in record.text.split("\n"):
            say(line.removesuffix("\r"))
    else:
        _print(record, values)


def _as_json(record: Record, values: dict[str, Any]) -> dict[str, Any]:
    sizes = {"shingles": record.shingles, "tokens": len(record.codes)}
    from simdoc_search.as_json import place_as_json

    return {**place_as_json(record.place), **values, **sizes, "metadata": dict(record.metadata), "text": record.text}


def _print(record: Record, values: dict[str, Any]) -> None:
    click.echo(f"document   {linked(record.id, values)}")
    if record.index is not None:
        say(f"index      {record.index}")
    if values["path"]:
        say(f"path       {values['path']}")
    if values["size"] is not None:
        say(
            f"size       {values['size']:,} bytes"
            if isinstance(values["size"], int)
            else f"size       {values['size']}"
        )
    if values["date"]:
        say(f"date       {values['date']}")
    say(f"text       {'not kept' if record.text is None else counted(len(record.text), 'character')}")
    for name, value in sorted(record.metadata.items()):
        said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        say(f"{printable(name):<10} {said}")
    if record.text is None:
        say("note: the store has no text of it", err=True)
        return
    say()
    lines = record.text[:_MOST].splitlines()[:_BEGINNING]
    for line in lines:
        say(line)
    if len("\n".join(lines)) < len(record.text.rstrip()):
        say("… --text shows all of it")
