"""`simdoc-search passages`: who shares passages with this document, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import Shown, show_option, sort_option
from simdoc_search.cli.common import (
    errors_as_sentences,
    field_options,
    json_option,
    store_option,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.ignore_option import ignore_option, ignored_texts
from simdoc_search.cli.input_text import read_lines
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.passages_query import Asking
from simdoc_search.cli.passages_run import PassageRun
from simdoc_search.cli.passages_sources import Asked, Files, asked_documents, asked_file, asked_text
from simdoc_search.cli.query_options import Given, filter_options, filters_of, page_options

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind

_PATH = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@click.option(
    "--file",
    "files",
    type=_PATH,
    multiple=True,
    help="Ask with the text of a file that need not be indexed, or of each line or row of a table; - reads stdin. "
    "May be repeated.",
)
@click.option(
    "--folder",
    "folders",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    help="Ask with each file below a folder. May be repeated.",
)
@click.option("--text", help="Ask with this text; - reads it from stdin.")
@click.option(
    "--all-from",
    type=_PATH,
    metavar="FILE",
    help="Ask with every ID or path of a file, one a line or between NULs (find -print0); - reads stdin.",
)
@page_options
@click.option(
    "--min-words",
    type=click.IntRange(min=1),
    help="Every equal run of this many words is a passage.  [default: 6, or 12 if you ask with over 1,000 words]",
)
@click.option(
    "--preset",
    type=click.Choice(["edited", "verbatim"]),
    default="edited",
    show_default=True,
    help="What a shared passage is: one with changed words in it too, or only equal words in the same order.",
)
@click.option(
    "--all",
    "compare_all",
    is_flag=True,
    help="Compare all documents that have something in common, however long it takes.",
)
@ignore_option
@click.option("--ignore-quotes", is_flag=True, help="Do not count quotations: “...” and lines that begin with >.")
@click.option("--each-other", is_flag=True, help="Compare the files of --folder with each other. No index is needed.")
@filter_options
@click.option("--other-folders", is_flag=True, help="No documents of the folder in which the one asked about lies.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one page: the text with each passage in the colour of its source, and the sources beside it.",
)
@click.option("--fail-if-empty", is_flag=True, help="Exit code 1 if there is no hit, of many in no answer.")
@show_option
@sort_option("most new words first")
@field_options
@store_option
@json_option
@errors_as_sentences
def passages(
    id: str | None,
    files: tuple[Path, ...],
    folders: tuple[Path, ...],
    text: str | None,
    all_from: Path | None,
    size: int,
    offset: int,
    min_words: int | None,
    preset: Any,
    compare_all: bool,
    ignore: tuple[str, ...],
    ignore_quotes: bool,
    each_other: bool,
    filters: Given,
    excluded: Given,
    other_folders: bool,
    html: Path | None,
    fail_if_empty: bool,
    show: tuple[str, ...],
    sort: str | None,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find which documents share passages with a document, a file or a text, and how much of it they cover together.

    The first line says how much of the text appears in indexed documents, each word counted once. The documents come
    in the order of the words that they add to that (`new`). A file that is in the store does not find itself.

    Every shared run of 6 words is found if you ask with up to 1,000 words, of 12 words with a longer text. Where the
    index has no texts, runs of 36 words are found (or as it was made: --passage-run), and shorter ones with a
    probability.

    \b
      simdoc-search passages doc123                          how much of it, in which documents, the longest passage
      simdoc-search passages --file essay.pdf --html shared.html
      simdoc-search passages --file essay.pdf --ignore task_sheet.pdf --ignore-quotes
      simdoc-search passages --folder ./essays --store ./sources.simdoc --json
      simdoc-search passages --folder ./essays --each-other
      simdoc-search passages --text "..." --min-words 8
      simdoc-search passages reports/2024.txt --other-folders --exclude path=drafts/
    """
    from simdoc_search.corpus import holds_several
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if sum(map(bool, (id is not None, files, folders, text is not None, all_from))) != 1:
        raise click.UsageError("give one of ID, --file, --folder, --text or --all-from")
    if other_folders and text is not None:
        raise click.UsageError("a text lies in no folder; leave out --other-folders")
    if each_other and (not folders or other_folders):
        raise click.UsageError("--each-other needs --folder, and no --other-folders")
    search = SimilaritySearch(
        open_store(":memory:", create=True)
        if each_other
        else open_to_ask(store, engine=engine, text_field=text_fields, field=field)
    )
    asking = Asking(
        search,
        filters=filters_of(filters, excluded),
        other_folders=other_folders,
        size=size,
        offset=offset,
        min_words=min_words,
        preset=preset,
        compare_all=compare_all,
        ignore=ignored_texts(ignore, lambda: search),
        ignore_quotes=ignore_quotes,
    )
    run = PassageRun(asking, Shown(search.store, show, sort), html, as_json)
    if all_from is not None:
        found = run.documents(asked_documents(read_lines(all_from)))
    elif each_other:
        found = run.each_other(Files(folders, listed=True))
    elif folders or len(files) > 1 or any(map(holds_several, files)):
        found = run.files(Files(folders or files, listed=bool(folders)))
    elif files:
        found = run.one(asked_file(files[0]))
    else:
        found = run.one(Asked(id) if id is not None else asked_text(text or ""))
    if fail_if_empty and not found:
        raise SystemExit(1)
