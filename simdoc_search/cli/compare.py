"""`simdoc-search compare`: shows what two texts share, and how they differ."""

from __future__ import annotations

import filecmp
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.comparison_options import (
    ignore_options,
    preset_option,
    read_ignored_texts,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.html_page import describe_run, write_page_file
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.input_text import is_file, read_document, read_stored_text
from simdoc_search.errors import CorpusError, NoTextError, StoreNotFoundError, UnknownDocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simdoc_search.analysis import Analysis
    from simdoc_search.documents import MetadataValue
    from simdoc_search.passages import Comparison
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import Store


class _Side(NamedTuple):
    """One of the two texts. `kind` is `id` or `file`. `settings` are those of the document's store; None for a file.

    `attachments` has the names of the attachments of an e-mail, which are not part of its text.
    """

    name: str
    kind: str
    text: str
    attachments: Sequence[str]
    settings: Settings | None = None


_COMPARISON_PARAMETERS = ("preset", "ignore", "ignore_quotes", "ignore_bibliography")
"""The parameters that change the comparison. The HTML page lists them."""


@click.command(cls=Command, main_options=["--html", "--preset", "--ignore", "--json"], shows_time=True)
@click.argument("a", shell_complete=complete_ids)
@click.argument("b", shell_complete=complete_ids)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML page that shows both texts."
)
@preset_option
@ignore_options
@index_options()
@json_option
def compare(
    a: str,
    b: str,
    html: Path | None,
    preset: Any,
    ignore: tuple[str, ...],
    ignore_quotes: bool,
    ignore_bibliography: bool,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Show what two texts share, and where they differ.

    A and B are files or stored documents. An argument that is the path of an existing file means that file. Use - for
    stdin. Any other argument is the id, path or file name of a stored document, as for `similar`.

    If a file and a stored document have the same name, put the id of the stored document in double quotes, or begin
    the path of the file with ./, as in the last example.

    Two files are compared with the default settings, or with the settings of --store if you give it.

    \b
      simdoc-search compare contract_2023.pdf contract_2024.docx
      simdoc-search compare doc123 draft.txt --html compared.html
      simdoc-search compare '"old.txt"' ./old.txt    double quotes mean an id
    """
    from click.core import ParameterSource

    from simdoc_search.as_json.comparison import comparison_as_json
    from simdoc_search.passages.compare import compare as compare_texts
    from simdoc_search.passages.ignored_words import ignore_parts
    from simdoc_search.passages.summary import describe_problem_words

    if a == b == "-":
        raise click.UsageError("only one side can be stdin (-); give a file or an id for the other")

    @cache
    def search() -> SimilaritySearch:
        from simdoc_search.search.similarity_search import SimilaritySearch

        return SimilaritySearch(index.open())

    have_same_bytes = _compare_bytes(a, b)
    try:
        sides = [_read_side(name, search, index.location) for name in (a, b)]
    except CorpusError as error:
        if have_same_bytes is None:
            raise
        bytes_are = f"the two files have {'the same' if have_same_bytes else 'different'} bytes"
        if html or not (have_same_bytes or _have_no_text(a, b)):
            raise CorpusError(f"{error}; {bytes_are}") from None
        if as_json:
            print_json({"a": {"file": a}, "b": {"file": b}, "have_same_bytes": have_same_bytes, "problem": str(error)})
        else:
            say(f"{bytes_are.capitalize()}. No text was compared, because {error}.")
        return
    settings = next((side.settings for side in sides if side.settings), None)
    if settings is None and click.get_current_context().get_parameter_source("store") is not ParameterSource.DEFAULT:
        settings = search().store.settings
    analysis = settings.analysis if settings else None
    texts, names = (sides[0].text, sides[1].text), (sides[0].name, sides[1].name)
    comparison = compare_texts(*texts, preset=preset, settings=settings)
    comparison, ignored, notes = ignore_parts(
        comparison,
        texts,
        names,
        analysis,
        templates=read_ignored_texts(ignore, search),
        quotations=ignore_quotes,
        bibliography=ignore_bibliography,
        preset=preset,
    )
    notes += describe_problem_words(comparison, texts, names)
    file_notes = _describe_files(comparison, sides, have_same_bytes)
    if html:
        context = click.get_current_context()
        page_notes = [*notes, *file_notes, *describe_run("Compared", context, _COMPARISON_PARAMETERS)]
        _write_page(html, comparison, sides, analysis, page_notes)
    if as_json:
        first, second = ({side.kind: side.name} for side in sides)
        values = comparison_as_json(
            comparison, (first, second), notes=[*notes, *file_notes], have_same_bytes=have_same_bytes
        )
        print_json({**values, **({"ignored": [*ignored]} if ignored else {})})
        return
    _print(comparison, sides, analysis, html, notes, ignores_words=ignored is not None)
    for note in file_notes:
        say(note)
    _print_attachments(sides)


def _compare_bytes(a: str, b: str) -> bool | None:
    """Return whether two files have the same bytes; None if one of them is not a regular file."""
    try:
        are_files = a != "-" != b and Path(a).is_file() and Path(b).is_file()
        return filecmp.cmp(a, b, shallow=False) if are_files else None
    except (OSError, ValueError):
        return None


def _describe_files(comparison: Comparison, sides: list[_Side], have_same_bytes: bool | None) -> list[str]:
    """Say whether two files with the same words have the same bytes, and what else may differ."""
    from simdoc_search.corpus.formats import describe_content_beyond_text, describe_uncompared_content

    names = sides[0].name, sides[1].name
    if have_same_bytes:
        return ["The two files have the same bytes."]
    if have_same_bytes is False and sides[0].text == sides[1].text:
        content = describe_content_beyond_text(*names)
        return [f"The two files have the same text, but different bytes: {content} may differ."]
    return [] if comparison.differences else describe_uncompared_content(*names)


def _have_no_text(*files: str) -> bool:
    """Return whether none of these files has text."""
    from simdoc_search.corpus.file_reader import TextlessFileError

    for file in files:
        try:
            read_document(Path(file))
        except TextlessFileError:
            continue
        except CorpusError:
            pass
        return False
    return True


def _read_side(name: str, search: Callable[[], SimilaritySearch], store: str) -> _Side:
    """Read the file or the stored document that an argument names."""
    from simdoc_search.corpus.formats import determine_format

    is_path = name.startswith(("./", "../", ".\\", "..\\")) or Path(name).is_absolute()
    if is_path or is_file(name):
        document = read_document(Path(name))
        return _Side(name, "file", document.text, _attachments(document.metadata))
    try:
        id, text = read_stored_text(search(), name)
    except NoTextError as error:
        raise CorpusError(f"the index does not have the text of {error.id!r}; give the path of its file") from None
    except (StoreNotFoundError, UnknownDocumentError) as error:
        if len(name) > 1 and name[0] == name[-1] == '"':
            raise
        if os.path.isdir(name):  # noqa: PTH112 - Path.is_dir may raise for a long name
            raise CorpusError(f"{name!r} is a folder; to compare its files, use `simdoc-search duplicates`") from None
        if isinstance(error, UnknownDocumentError):
            if path := _find_skipped_file(name, search().store, error.suggestions):
                document = read_document(path)
                return _Side(str(path), "file", document.text, _attachments(document.metadata))
            hint = f"; did you mean {', '.join(map(repr, error.suggestions))}?" if error.suggestions else ""
            raise CorpusError(f"{name!r} is neither a file nor a document in {store}{hint}") from None
        raise CorpusError(f"{name!r} is not a file, and it cannot be looked up in an index: {error}") from None
    opened = search().store
    record = opened.get(id) if determine_format(id).is_mail else None
    return _Side(id, "id", text, _attachments(record.metadata if record else {}), opened.settings)


def _find_skipped_file(id: str, store: Store, other_ids: Sequence[str]) -> Path | None:
    """Return a file that is not in the store but would have this id, in the indexed folders of other documents."""
    for origin in {record.origin for other in other_ids if (record := store.get(other))}:
        if origin is not None and id.startswith(origin.prefix):
            path = origin.path_of(id)
            if is_file(path):
                return Path(path)
    return None


def _attachments(metadata: Mapping[str, MetadataValue]) -> Sequence[str]:
    names = metadata.get("attachments", [])
    return [str(name) for name in names] if isinstance(names, list) else []


def _print_attachments(sides: list[_Side]) -> None:
    """Say on stderr that attachments were not compared, and name them."""
    if any(side.attachments for side in sides):
        listed = (f"{side.name} has {', '.join(map(repr, side.attachments)) or 'none'}" for side in sides)
        say(f"note: attachments were not compared: {'; '.join(listed)}", err=True)


def _print(
    comparison: Comparison,
    sides: list[_Side],
    analysis: Analysis | None,
    html: Path | None,
    notes: Sequence[str],
    *,
    ignores_words: bool,
) -> None:
    from rich.console import Console

    from simdoc_search.cli.compare_output import comparison_lines, measure_lines

    console = Console()
    is_coloured = console.is_terminal and console.color_system is not None and not console.no_color
    names, texts = (sides[0].name, sides[1].name), (sides[0].text, sides[1].text)
    if html:
        lines = measure_lines(comparison, names, width=console.width, is_coloured=is_coloured, notes=notes)
    else:
        lines = comparison_lines(
            comparison,
            texts,
            names,
            width=console.width,
            is_coloured=is_coloured,
            analysis=analysis,
            notes=notes,
            ignores_words=ignores_words,
        )
    for line in lines:
        console.print(line, soft_wrap=True)
    if html:
        say(f"  page: {html}")


def _write_page(
    path: Path, comparison: Comparison, sides: list[_Side], analysis: Analysis | None, notes: Sequence[str]
) -> None:
    from simdoc_search.passages.report import render_pair_page

    texts, names = (sides[0].text, sides[1].text), (sides[0].name, sides[1].name)
    write_page_file(path, render_pair_page(comparison, texts, names, analysis=analysis, notes=notes))
