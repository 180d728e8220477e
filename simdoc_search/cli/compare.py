"""`simdoc-search compare`: what do two texts share, and what differs?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdoc_search.cli.common import (
    errors_as_sentences,
    field_options,
    json_option,
    print_json,
    say,
    store_option,
    write_file,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.ignore_option import ignore_option, ignored_texts
from simdoc_search.cli.input_text import read_file
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.display import counted
from simdoc_search.errors import CorpusError, StoreNotFoundError, UnknownDocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.passages import Comparison
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind


class _Text(NamedTuple):
    """A text to compare: what it is called, what kind of name that is, and how its store makes fingerprints."""

    name: str
    kind: str
    text: str
    settings: Settings | None = None


@click.command()
@click.argument("a", shell_complete=complete_ids)
@click.argument("b", shell_complete=complete_ids)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page that shows both texts.")
@click.option(
    "--preset",
    type=click.Choice(["edited", "verbatim"]),
    default="edited",
    show_default=True,
    help="What a shared passage is: one with changed words in it too, or only equal words in the same order.",
)
@click.option(
    "--shingle-size",
    type=click.IntRange(min=1),
    help="Words of the runs that the details of two files count.  [default: 5]",
)
@ignore_option
@field_options
@store_option
@json_option
@errors_as_sentences
def compare(
    a: str,
    b: str,
    html: Path | None,
    preset: Any,
    shingle_size: int | None,
    ignore: tuple[str, ...],
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show what two texts share, and which words and signs differ.

    A and B are files or documents of the index. A path that exists is a file, and - is stdin. Anything else is an id, a
    file name or a path as `similar` takes them. An id in double quotes is a document even if there is such a file; a
    path that begins with ./ is a file.

    With --store two files are compared by the settings of that index.

    \b
      simdoc-search compare contract_2023.pdf contract_2024.docx
      simdoc-search compare doc123 draft.txt --html compared.html
      simdoc-search compare '"notes/old.txt"' ./notes/old.txt     what was indexed, and the file as it is now
    """
    from click.core import ParameterSource

    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.as_json import comparison_as_json
    from simdoc_search.passages.compare import compare as compared
    from simdoc_search.sketch.settings import Settings

    if a == b == "-":
        raise click.UsageError("only one text can be stdin (-); give a file or a document for the other")
    opened = _once(store, engine, text_fields, field)
    texts = [_read(each, opened, store) for each in (a, b)]
    settings = next((each.settings for each in texts if each.settings), None)
    if settings is None and click.get_current_context().get_parameter_source("store") is not ParameterSource.DEFAULT:
        settings = opened().store.settings
    if shingle_size is not None:
        if settings is not None:
            raise click.UsageError("the index decides how many words a shingle has; leave out --shingle-size")
        settings = Settings(analysis=Analysis(shingle_size=shingle_size))
    comparison = compared(texts[0].text, texts[1].text, preset=preset, settings=settings)
    ignored = None
    if ignore:
        both = texts[0].text, texts[1].text
        comparison, ignored = _without(comparison, both, ignored_texts(ignore, opened), settings, preset)
    if html:
        _write_page(html, comparison, texts, settings)
    if as_json:
        first, second = ({each.kind: each.name} for each in texts)
        more = {"ignored": list(ignored)} if ignored else {}
        print_json({**comparison_as_json(comparison, (first, second)), **more})
    else:
        _print(comparison, texts, settings, html)
        if ignored:
            say(f"{counted(ignored[0], 'word')} of the first text and {ignored[1]:,} of the second are ignored.")


def _without(
    comparison: Comparison, texts: tuple[str, str], templates: list[str], settings: Settings | None, preset: Any
) -> tuple[Comparison, tuple[int, int]]:
    """The comparison without the words of templates, and how many words these are of each text."""
    from simdoc_search.passages.align import PRESETS
    from simdoc_search.passages.ignored_words import without_templates

    analysis = settings.analysis if settings else None
    least = PRESETS[preset].least_of(comparison.words[0])
    return without_templates(comparison, texts, templates, analysis, least)


def _once(
    store: str, engine: EngineKind | None, text_fields: tuple[str, ...], field: str | None
) -> Callable[[], SimilaritySearch]:
    """Opens the store when it is first needed."""
    from functools import cache

    @cache
    def opened() -> SimilaritySearch:
        from simdoc_search.search import SimilaritySearch

        return SimilaritySearch(open_to_ask(store, engine=engine, text_field=text_fields, field=field))

    return opened


def _read(named: str, opened: Callable[[], SimilaritySearch], store: str) -> _Text:
    """The text that an argument names.

    Raises:
        CorpusError: it names nothing, or what it names has no text.
    """
    if _is_file(named):
        return _Text(named, "file", read_file(Path(named)))
    quoted = len(named) > 1 and named[0] == named[-1] == '"'
    try:
        search = opened()
        id = search.resolve(named, overlap=0).id  # an overlap given apart: what ends in numbers is an id alone
    except (StoreNotFoundError, UnknownDocumentError) as error:
        if quoted:
            raise
        _check_is_no_folder(named)
        if isinstance(error, UnknownDocumentError):
            hint = f"; did you mean {', '.join(map(repr, error.suggestions))}?" if error.suggestions else ""
            raise CorpusError(f"{named!r} is neither a file here nor a document in {store}{hint}") from None
        raise CorpusError(f"{named!r} is no file here, and to be an id it needs a store: {error}") from None
    record = search.store.get(id, text=True)
    if record is None or record.text is None:
        raise CorpusError(f"the document {id!r} is stored without its text; name its file instead")
    return _Text(id, "id", record.text, search.store.settings)


def _check_is_no_folder(named: str) -> None:
    if os.path.isdir(named):  # noqa: PTH112 - may have a NUL
        raise CorpusError(f"{named!r} is a folder; name two files or documents, or ask simdoc-search duplicates")


def _is_file(named: str) -> bool:
    """Whether an argument is a path: it says so, or something is there that can be read."""
    if named == "-" or named.startswith(("./", "../", ".\\", "..\\")) or Path(named).is_absolute():
        return True
    try:
        return Path(named).exists() and not Path(named).is_dir()
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def _print(comparison: Comparison, texts: list[_Text], settings: Settings | None, html: Path | None) -> None:
    from rich.console import Console

    from simdoc_search.passages.report import measure_lines, terminal_lines

    console = Console()
    colour = console.is_terminal and console.color_system is not None and not console.no_color
    names = texts[0].name, texts[1].name
    if html:
        lines = measure_lines(comparison, names, width=console.width, colour=colour)
    else:
        lines = terminal_lines(
            comparison,
            (texts[0].text, texts[1].text),
            names,
            width=console.width,
            colour=colour,
            analysis=settings.analysis if settings else None,
        )
    for line in lines:
        click.echo(line, color=colour)
    if html:
        say(f"  page: {html}")


def _write_page(path: Path, comparison: Comparison, texts: list[_Text], settings: Settings | None) -> None:
    from simdoc_search.passages.report import comparison_page

    first, second = texts
    analysis = settings.analysis if settings else None
    shown = comparison_page(comparison, (first.text, second.text), (first.name, second.name), analysis=analysis)
    write_file(path, shown)
