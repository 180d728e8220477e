"""`simdoc-search passages`: finds the passages that documents, files and texts share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import HitColumns, show_option, sort_option
from simdoc_search.cli.common import (
    CommandInterruptedError,
    document_progress,
    fail_if_queries_failed,
    json_option,
    workers_option,
)
from simdoc_search.cli.comparison_options import (
    ignore_options,
    preset_option,
    read_ignored_texts,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_paths import IndexedPaths, in_option, open_paths
from simdoc_search.cli.input_text import QueryFiles, QueryText, read_file, read_lines, read_text
from simdoc_search.cli.passages_output import PassageAnswer, PassageOutput
from simdoc_search.cli.passages_page import describe_search
from simdoc_search.cli.passages_search import PassageSearch
from simdoc_search.cli.query_options import FilterPairs, filter_options, make_filters, page_options
from simdoc_search.display import format_count
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import NoFingerprintError
from simdoc_search.workers import ParallelMapper

if TYPE_CHECKING:
    pass

_PATH = click.Path(path_type=Path, allow_dash=True)

_MAX_QUERIES_WITHOUT_WORKERS = 16  # for more queries, starting worker processes is faster


class _Folder(click.Path):
    """A folder. If it is a file, the error says what to do."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).is_file():
            from simdoc_search.corpus.formats import determine_format

            is_archive = determine_format(value).kind == "archive"
            advice = "an archive; unpack it, and give the folder" if is_archive else "not a folder; use --file"
            self.fail(f"{value} is {advice}", param, ctx)
        return super().convert(value, param, ctx)


@click.command(cls=Command, main_options=["--file", "--in", "--text", "--html", "--size"], shows_time=True)
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@click.option(
    "--file",
    "files",
    type=_PATH,
    multiple=True,
    help="Query with the text of a file. If the file is a table, such as CSV or JSON Lines, query with each row. "
    "The file need not be indexed. Use - for stdin. Repeatable.",
)
@click.option(
    "--folder",
    "folders",
    type=_Folder(path_type=Path, file_okay=False),
    multiple=True,
    help="Query with each file in a folder. Repeatable.",
)
@click.option("--text", help="Query with this text. Use - for stdin.")
@click.option(
    "--all-from",
    type=_PATH,
    metavar="FILE",
    help="Query with each ID or path in a file, one per line or separated by NUL (find -print0). Use - for stdin.",
)
@in_option
@page_options
@click.option(
    "--min-words",
    type=click.IntRange(min=1),
    help="Minimum number of consecutive identical words.  [default: 6, or 12 for a text of over 1,000 words]",
)
@preset_option
@click.option(
    "--compare-all",
    "compare_all",
    is_flag=True,
    help="Compare every document that may share passages, not only the most promising ones. This is slower.",
)
@ignore_options
@click.option("--each-other", is_flag=True, help="Compare the files of --folder with each other. No index is needed.")
@filter_options
@click.option("--exclude-same-folder", is_flag=True, help="Exclude documents in the same folder as the query document.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write an HTML page that shows the text beside its sources. Each passage has the colour of its source.",
)
@click.option("--fail-if-empty", is_flag=True, help="Exit with status 1 if there are no hits.")
@workers_option
@show_option
@sort_option("number of shared words that no earlier hit shares")
@index_options()
@json_option
def passages(
    id: str | None,
    files: tuple[Path, ...],
    folders: tuple[Path, ...],
    text: str | None,
    all_from: Path | None,
    in_paths: tuple[Path, ...],
    size: int,
    offset: int,
    min_words: int | None,
    preset: Any,
    compare_all: bool,
    ignore: tuple[str, ...],
    ignore_quotes: bool,
    ignore_bibliography: bool,
    each_other: bool,
    filters: FilterPairs,
    excluded: FilterPairs,
    exclude_same_folder: bool,
    html: Path | None,
    fail_if_empty: bool,
    workers: int,
    show: tuple[str, ...],
    sort: str | None,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Find the passages that a document shares with others.

    You can also query with a file or a text. The first line of the output says how much of the text appears in stored
    documents. Each word counts once. The hit that shares the most words comes first. Each further line shows the hit
    that adds the most words not covered by the lines above it. The column `new` counts these words. A file never
    matches its own stored copy.

    In a text of up to 1,000 words, every shared run of 6 words is found. In a longer text, every shared run of 12 words
    is found. --min-words lowers these numbers. If the index has no texts, only shared runs of 36 words are always
    found. To change this length, use `index --passage-run`.

    \b
      simdoc-search passages --file essay.pdf --in ~/Papers
      simdoc-search passages doc123 --html shared.html
      simdoc-search passages --folder ./essays --each-other
      simdoc-search passages --file essay.pdf --ignore task_sheet.pdf --ignore-quotes --ignore-bibliography
      simdoc-search passages --folder ./essays --store ./sources.simdoc --json
      simdoc-search passages --text "..." --min-words 8
      simdoc-search passages reports/2024.txt --exclude-same-folder --exclude path=drafts/
    """
    from simdoc_search.corpus import has_several_documents
    from simdoc_search.documents import Document
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores import open_store

    if sum((id is not None, bool(files), bool(folders), text is not None, all_from is not None)) != 1:
        raise click.UsageError("give one of ID, --file, --folder, --text or --all-from")
    if exclude_same_folder and text is not None:
        raise click.UsageError("--exclude-same-folder cannot be combined with --text; omit one of them")
    if each_other and (not folders or exclude_same_folder or in_paths):
        raise click.UsageError("--each-other needs --folder and cannot be combined with --exclude-same-folder or --in")

    filters_of_paths: list[dict[str, Any]] = []
    if each_other:
        indexed = IndexedPaths(SimilaritySearch(open_store(":memory:", create=True)), [], 0)
    else:
        indexed, filters_of_paths = open_paths(in_paths, index, workers=workers, quiet=as_json)
    search, problems = indexed.search, indexed.problems
    document_count = indexed.document_count if in_paths or not html else search.store.info().document_count
    options: dict[str, Any] = {
        "size": size,
        "offset": offset,
        "min_words": min_words,
        "preset": preset,
        "compare_all": compare_all,
        "ignore": read_ignored_texts(ignore, lambda: search),
        "ignore_quotes": ignore_quotes,
        "ignore_bibliography": ignore_bibliography,
    }
    all_filters = [*make_filters(filters, excluded), *filters_of_paths]
    passage_search = PassageSearch(search, all_filters, options, exclude_same_folder=exclude_same_folder)
    places = folders if each_other else in_paths or (index.location,)
    skipped = indexed.skipped if in_paths or not html else search.store.skipped_files()
    notes = describe_search(list(map(str, places)), document_count, skipped, click.get_current_context())
    output = PassageOutput(search, HitColumns(search.store, show, sort), html, as_json, notes)
    if all_from is not None:
        names = read_lines(all_from)
        _answer_many(map(QueryText, names), len(names), passage_search, output, workers)
    elif folders or len(files) > 1 or any(map(has_several_documents, files)):
        query_files = QueryFiles(folders or files, list_first=bool(folders))
        if each_other:
            search.index(Document(query.name, query.text or "") for query in query_files)
            ids = sorted(record.id for record in search.store.scan())
            _answer_many(map(QueryText, ids), len(ids), passage_search, output, workers, query_files)
        else:
            _answer_many(query_files, query_files.total, passage_search, output, workers, query_files)
    elif files:
        output.print_one(passage_search.answer(QueryText(str(files[0]), read_file(files[0]), str(files[0]))))
    else:
        query = QueryText(id) if id is not None else QueryText("the text", read_text(text or ""))
        output.print_one(passage_search.answer(query))
    if problems or (fail_if_empty and not output.hit_count):
        raise SystemExit(1)


def _answer_many(
    queries: Iterable[QueryText],
    total: int | None,
    search: PassageSearch,
    output: PassageOutput,
    workers: int,
    files: QueryFiles | None = None,
) -> None:
    """Run many queries, and print the answers. If other processes can open the store, several processes run them.

    If a query fails or a path cannot be read, this is reported after all answers.
    """
    skipped, problems = (files.skipped, files.problems) if files else ([], [])
    count, failures = 0, list[tuple[str, str]]()
    try:
        with (
            document_progress(hidden=output.as_json, has_total=total is not None) as update,
            ParallelMapper(workers if search.is_picklable else 1) as mapper,
        ):
            update(total=total)
            for query, answer in mapper.map(search.answer_or_error, queries, _MAX_QUERIES_WITHOUT_WORKERS):
                count += 1
                if isinstance(answer, PassageAnswer):
                    output.add(answer)
                elif isinstance(answer, NoFingerprintError) and query.text is not None:
                    skipped.append(SkippedFile(query.name, "no words"))
                else:
                    output.add_error(query, answer)
                    failures.append((query.name, str(answer)))
                update(advance=1)
    except KeyboardInterrupt:
        if not output.as_json:
            output.print_many(skipped, problems)
        raise CommandInterruptedError(f"interrupted after {format_count(count, 'text')}") from None
    output.print_many(skipped, problems)
    fail_if_queries_failed(failures, count, output.as_json)
    if problems:
        raise SystemExit(1)
