"""`simdoc-search passages`: finds the passages that documents, files and texts share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import HitColumns, show_option, sort_option
from simdoc_search.cli.common import (
    CommandInterruptedError,
    document_progress,
    field_options,
    handle_errors,
    json_option,
    open_for_query,
    store_option,
)
from simdoc_search.cli.comparison_options import ignore_option, preset_option, read_ignored_texts
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.input_text import QueryFiles, QueryText, read_file, read_lines, read_text, resolve_id
from simdoc_search.cli.passages_output import PassageAnswer, PassageOutput
from simdoc_search.cli.query_options import FilterPairs, filter_options, make_filters, page_options
from simdoc_search.cli.worker_options import worker_count, workers_option
from simdoc_search.display import format_count
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, SimdocError
from simdoc_search.workers import WorkerMap

if TYPE_CHECKING:
    from simdoc_search.search import PassageResult, SimilaritySearch
    from simdoc_search.stores.location import EngineKind

_PATH = click.Path(path_type=Path, allow_dash=True)

_FEW_QUERIES = 16  # up to this number of queries, this process is faster than starting worker processes


@click.command()
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@click.option(
    "--file",
    "files",
    type=_PATH,
    multiple=True,
    help="Query with the text of a file, or with each record of a table, such as a CSV or JSON Lines file. The file "
    "need not be indexed. Use - for stdin. Repeatable.",
)
@click.option(
    "--folder",
    "folders",
    type=click.Path(path_type=Path, file_okay=False),
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
    help="Compare every document that may share passages, not only the most promising ones. Slower.",
)
@ignore_option
@click.option("--ignore-quotes", is_flag=True, help="Do not count quotations: “...”, and lines that begin with >.")
@click.option("--each-other", is_flag=True, help="Compare the files of --folder with each other. No store is needed.")
@filter_options
@click.option("--other-folders", is_flag=True, help="Exclude documents in the same folder as the query document.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write an HTML page that shows the text beside its sources. Each passage has the colour of its source.",
)
@click.option("--fail-if-empty", is_flag=True, help="Exit with status 1 if there are no hits.")
@workers_option
@show_option
@sort_option("most new words first")
@field_options
@store_option
@json_option
@handle_errors
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
    filters: FilterPairs,
    excluded: FilterPairs,
    other_folders: bool,
    html: Path | None,
    fail_if_empty: bool,
    workers: int | None,
    show: tuple[str, ...],
    sort: str | None,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find the passages that a document shares with others.

    You can also query with a file or a text. The first line of the output says how much of the text appears in stored
    documents. Each word counts once. The column `new` counts the words that no earlier hit covers. Hits are sorted by
    this number: each line shows the remaining hit with the most new words. A file never matches its own stored copy.

    In a text of up to 1,000 words, every shared run of 6 words is found. In a longer text, every shared run of 12 words
    is found. If the store has no texts, only runs of 36 words are certain to be found. You can change this length with
    `index --passage-run`.

    \b
      simdoc-search passages doc123
      simdoc-search passages --file essay.pdf --html shared.html
      simdoc-search passages --file essay.pdf --ignore task_sheet.pdf --ignore-quotes
      simdoc-search passages --folder ./essays --store ./sources.simdoc --json
      simdoc-search passages --folder ./essays --each-other
      simdoc-search passages --text "..." --min-words 8
      simdoc-search passages reports/2024.txt --other-folders --exclude path=drafts/
    """
    from simdoc_search.corpus import has_several_documents
    from simdoc_search.documents import Document
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if sum(map(bool, (id is not None, files, folders, text is not None, all_from))) != 1:
        raise click.UsageError("give one of ID, --file, --folder, --text or --all-from")
    if other_folders and text is not None:
        raise click.UsageError("--other-folders cannot be combined with --text; omit one of them")
    if each_other and (not folders or other_folders):
        raise click.UsageError("--each-other needs --folder and cannot be combined with --other-folders")
    if each_other:
        search = SimilaritySearch(open_store(":memory:", create=True))
    else:
        search = SimilaritySearch(open_for_query(store, engine=engine, text_field=text_fields, field=field))
    options: dict[str, Any] = {
        "size": size,
        "offset": offset,
        "min_words": min_words,
        "preset": preset,
        "compare_all": compare_all,
        "ignore": read_ignored_texts(ignore, lambda: search),
        "ignore_quotes": ignore_quotes,
    }
    workers = worker_count(workers)
    passage_search = _PassageSearch(search, make_filters(filters, excluded), options, other_folders=other_folders)
    output = PassageOutput(search, HitColumns(search.store, show, sort), html, as_json)
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
    if fail_if_empty and not output.hits:
        raise SystemExit(1)


def _answer_many(
    queries: Iterable[QueryText],
    total: int | None,
    search: _PassageSearch,
    output: PassageOutput,
    workers: int,
    files: QueryFiles | None = None,
) -> None:
    """Run many queries, and print the answers. If other processes can open the store, several processes run them.

    Raises:
        ClickException: some queries failed. The answers of all others are printed.
        SystemExit: a path could not be read. The answers of all others are printed.
    """
    skipped, problems = (files.skipped, files.problems) if files else ([], [])
    count = failed = 0
    try:
        with (
            document_progress(hidden=output.as_json, has_total=total is not None) as update,
            WorkerMap(workers if search.is_picklable else 1) as worker_map,
        ):
            update(total=total)
            for query, answer in worker_map.map(search.answer_or_error, queries, _FEW_QUERIES):
                count += 1
                if isinstance(answer, PassageAnswer):
                    output.add(answer)
                elif isinstance(answer, NoFingerprintError) and query.text is not None:
                    skipped.append(SkippedFile(query.name, "no words"))
                else:
                    output.add_error(query, answer)
                    failed += 1
                update(advance=1)
    except KeyboardInterrupt:
        if not output.as_json:
            output.print_many(skipped, problems)
        raise CommandInterruptedError(f"interrupted after {format_count(count, 'text')}") from None
    output.print_many(skipped, problems)
    if failed:
        raise click.ClickException(f"{failed:,} of {format_count(count, 'query', 'queries')} failed")
    if problems:
        raise SystemExit(1)


class _PassageSearch:
    """Answers one query at a time. A file never matches its own stored copy.

    Args:
        search: the search to query.
        filters: filters for the hits.
        options: further arguments of `SimilaritySearch.passages`.
        other_folders: whether to exclude the folder of each query document from its hits.
    """

    def __init__(
        self,
        search: SimilaritySearch,
        filters: Sequence[dict[str, Any]],
        options: dict[str, Any],
        *,
        other_folders: bool,
    ) -> None:
        from simdoc_search.search.files import IndexedFiles

        self._search, self._filters, self._options = search, filters, options
        self._other_folders = other_folders
        self._files = IndexedFiles(search.store)

    @property
    def is_picklable(self) -> bool:
        """Whether another process can open the store of this search."""
        from simdoc_search.stores.local import LocalStore

        return isinstance(self._search.store, LocalStore) and self._search.store.is_in_folder

    def answer_or_error(self, query: QueryText) -> tuple[QueryText, PassageAnswer | SimdocError]:
        """Return the query, and its answer or its error. Raises a StoreError, because other queries would fail too."""
        from simdoc_search.search.results import catch_error

        return query, catch_error(partial(self.answer, query))

    def answer(self, query: QueryText) -> PassageAnswer:
        """Answer a query. Raises the same errors as `SimilaritySearch.passages`."""
        from simdoc_search.query import FingerprintQuery

        if query.text is None:
            id = resolve_id(self._search, query.name)
            record = self._search.store.get(id) if self._other_folders else None
            filters = self._filters_for(record.path if record else id)
            return PassageAnswer(query, self._find_passages(filters, query=FingerprintQuery(id)), id)
        indexed = self._files.get(query.file) if query.file and query.file != "-" else None
        filters = self._filters_for(indexed.id) if indexed else self._filters
        own_key = indexed.key if indexed else None
        result = self._find_passages(filters, text=query.text, exclude=own_key)
        return PassageAnswer(query, result, own_key.id if own_key else None)

    def _find_passages(self, filters: Sequence[dict[str, Any]], **query: Any) -> PassageResult:
        return self._search.passages(filters=filters, **query, **self._options)

    def _filters_for(self, path: str) -> Sequence[dict[str, Any]]:
        """Return the filters for a query document with this path in the store."""
        from simdoc_search.stores.filters import none_of

        if not self._other_folders:
            return self._filters
        folder, slash, _ = path.rpartition("/")
        if not slash:
            raise QuerySyntaxError(f"the document {path!r} is not in a folder; omit --other-folders")
        return [*self._filters, {"path": none_of(f"{folder}/")}]
