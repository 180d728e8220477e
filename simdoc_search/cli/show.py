"""`simdoc-search show`: shows a document in the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import link_id
from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_options import synonyms_option
from simdoc_search.cli.input_text import is_file, is_stream, read_document
from simdoc_search.display import format_count, list_examples, printable, printable_text

if TYPE_CHECKING:
    from simdoc_search.documents import DocumentKey
    from simdoc_search.search.concepts import ConceptWord
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.record import Record

_MAX_TEXT_LINES, _MAX_TEXT_CHARACTERS, _MAX_VALUE_CHARACTERS = 10, 1_000, 200
_MAX_CONCEPTS_PER_WORD = 3
_MAX_WORD_WIDTH = 24


@click.command(cls=Command)
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@click.option(
    "--file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Show the text that is read from a file. The file need not be indexed. Use - for stdin.",
)
@click.option(
    "--text-only",
    is_flag=True,
    help="Print the whole text, and nothing else. A file or pipe gets it unchanged, in UTF-8.",
)
@click.option(
    "--concepts",
    is_flag=True,
    help="List the words of the document's concepts (names and keywords), with the weight of each word.",
)
@synonyms_option(
    "With --concepts: the synonyms file that the index was created with. Without this file, a word is not shown if the "
    "document contains only synonyms of it."
)
@index_options()
@json_option
def show(
    id: str | None,
    file: Path | None,
    text_only: bool,
    concepts: bool,
    synonyms: Path | None,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Show a document: its file, size, date, metadata and text.

    In the index of an application, the metadata are its own fields. ID is a document's id, the path of its file, or its
    file name if only one document has it. Only the beginning of the text is shown. To print the whole text, use
    --text-only. --file shows a file as `passages --file` reads it.

    \b
      simdoc-search show doc123
      simdoc-search show ./corpus/reports/half.txt --text-only
      simdoc-search show --file thesis.docx --text-only
      simdoc-search show doc123 --concepts
    """
    from simdoc_search.errors import NoTextError, UnknownDocumentError
    from simdoc_search.search.columns import Columns
    from simdoc_search.search.resolver import find_record
    from simdoc_search.search.stored_texts import add_all_metadata, read_records

    if (id is None) == (file is None):
        raise click.UsageError("give ID or --file")
    if text_only and concepts:
        raise click.UsageError("give --text-only or --concepts, not both")
    if concepts and file is not None:
        raise click.UsageError("--concepts needs ID; index the file first")
    if synonyms is not None and not concepts:
        raise click.UsageError("--synonyms needs --concepts; add --concepts")
    columns = Columns(["path", "size", "date"])
    if file is not None:
        record = _read_file(file)
    else:
        with _open_index(id or "", index) as opened:
            key = find_record(opened, id or "").key
            if concepts:
                _show_concepts(opened, key, synonyms, as_json=as_json)
                return
            stored = read_records(opened, [key], load={"text"}).get(key)
            if stored is None:  # another process has removed the document meanwhile
                raise UnknownDocumentError(key.id)
            record = add_all_metadata(opened, stored)
    values = columns.get_values(record)
    if as_json:
        print_json(_as_json(record, values, file))
    elif text_only:
        if record.text is None:
            raise NoTextError(record.id)
        _print_text(record.text)
    else:
        _print_record(record, values)


def _open_index(id: str, index: ChosenIndex) -> Store:
    """Open the index of the document. If there is none and `id` is a file, the error names `--file`."""
    from simdoc_search.errors import StoreNotFoundError

    try:
        return index.open()
    except StoreNotFoundError as error:
        hint = f"; to show the file {id!r} without an index, use --file" if is_file(id) else ""
        raise StoreNotFoundError(f"{error}{hint}") from None


def _read_file(file: Path) -> Record:
    """Return the record of a file that is not in a store."""
    from simdoc_search.sketch.tokens import empty_token_ids
    from simdoc_search.stores.record import Origin, Record

    document, origin = read_document(file), None
    if not is_stream(file):
        state = file.stat()
        origin = Origin(str(file.absolute()), state.st_size, state.st_mtime_ns)
    return Record(document.id, empty_token_ids(), 0, "", document.metadata, document.text, origin)


def _as_json(record: Record, values: dict[str, Any], file: Path | None) -> dict[str, Any]:
    from simdoc_search.as_json.queries import key_as_json

    content = {"metadata": dict(record.metadata), "text": record.text}
    if file is not None:
        return {"id": None, "file": str(file), **values, **content}
    sizes = {"shingle_count": record.shingle_count, "token_count": len(record.token_ids)}
    return {**key_as_json(record.key), **values, **sizes, **content}


def _print_text(text: str) -> None:
    """Print a text: unchanged into a file or pipe, and without control characters on a terminal."""
    from simdoc_search.analysis.words import without_surrogates

    if sys.stdout.isatty():
        shown = printable_text(text)
        click.echo(shown, nl=not shown.endswith("\n"))
    else:
        click.echo(without_surrogates(text).encode(), nl=False)


def _print_record(record: Record, values: dict[str, Any]) -> None:
    from simdoc_search.passages.summary import excerpt

    size = values["size"]
    lines = {
        "index": record.index,
        "path": values["path"] or None,
        "size": f"{size:,} bytes" if isinstance(size, int) else size,
        "date": values["date"] or None,
        "text": "not stored" if record.text is None else format_count(len(record.text), "character"),
    }
    metadata = {name: value for name, value in sorted(record.metadata.items()) if lines.get(name) != value}
    width = min(_MAX_WORD_WIDTH, max([10, *map(len, metadata)]))
    click.echo(f"{'document':<{width}} {link_id(record.id, values)}")
    for name, value in lines.items():
        if value is not None:
            say(f"{name:<{width}} {value}")
    for name, value in metadata.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        say(f"{printable(name):<{width}} {shown if len(shown) <= _MAX_VALUE_CHARACTERS else excerpt(shown)}")
    if record.text is None:
        say("note: the index does not have the text of this document", err=True)
        return
    say()
    text_lines = record.text.rstrip()[: _MAX_TEXT_CHARACTERS + 1].splitlines()
    for line in "\n".join(text_lines)[:_MAX_TEXT_CHARACTERS].splitlines()[:_MAX_TEXT_LINES]:
        say(line.expandtabs())
    if len(text_lines) > _MAX_TEXT_LINES or len(record.text.rstrip()) > _MAX_TEXT_CHARACTERS:
        say("… Show the whole text with --text-only")


def _show_concepts(store: Store, key: DocumentKey, synonyms: Path | None, *, as_json: bool) -> None:
    """Print the concepts of a document, highest weight first."""
    from simdoc_search.as_json.related import concepts_as_json
    from simdoc_search.concepts import read_synonyms
    from simdoc_search.search.similarity_search import SimilaritySearch

    result = SimilaritySearch(store).concepts(key, synonyms=None if synonyms is None else read_synonyms(synonyms))
    if as_json:
        print_json(concepts_as_json(result))
        return
    say(f"document   {key.id}")
    counts = f"{format_count(len(result.words), 'word')} in {format_count(result.paragraph_count, 'paragraph')}"
    documents = format_count(result.document_count, "document")
    say(f"concepts   {counts}; weight 1 means that only one of {documents} has the word")
    width = min(_MAX_WORD_WIDTH, max([7, *(len(word.word) for word in result.words)]))
    say(f"{'weight':>7}{'documents':>11}{'occurrences':>13}  {'word':<{width}}  from")
    for word in result.words:
        numbers = f"{word.weight:>7.2f}{word.document_count:>11,}{word.occurrence_count:>13,}"
        say(f"{numbers}  {word.word or '–':<{width}}  {_format_concepts_and_synonyms(word)}".rstrip())
    if result.unknown_words_reason:
        say(f"note: {result.unknown_words_reason}", err=True)


def _format_concepts_and_synonyms(word: ConceptWord) -> str:
    """Return the concepts that contain a word, and the synonyms that the text has for it."""
    names = list_examples(word.concepts, _MAX_CONCEPTS_PER_WORD)
    return f"{names} (synonyms: {', '.join(word.synonyms)})" if word.synonyms else names
