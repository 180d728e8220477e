"""Indexes the folders that a command searches, so that you need not run `index` first. Defines `--in`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from simdoc_search.cli.common import document_progress, explain_interruption, say
from simdoc_search.cli.config import read_config_value
from simdoc_search.cli.index_location_options import ChosenIndex
from simdoc_search.display import command_line, format_count, without_credentials
from simdoc_search.errors import StoreNotFoundError

if TYPE_CHECKING:
    from simdoc_search.corpus import Source
    from simdoc_search.documents import SkippedFile
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores.location import EngineKind

_MAX_LISTED_SOURCES = 100_000
"""Maximum number of files that are listed before indexing. A longer list would take too much memory."""

INTERRUPTED_INDEXING = "finished documents are stored. Run the same command again to resume"


def _require_files(_context: click.Context, _parameter: click.Parameter, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Reject stdin and tables, because a search can only be restricted to documents that are files."""
    if not paths:
        return paths
    from simdoc_search.corpus import has_several_documents

    for path in paths:
        if str(path) == "-" or has_several_documents(path):
            raise click.BadParameter(f"{path} is not a folder or a document; index it, and omit --in")
    return paths


in_option: Final = click.option(
    "--in",
    "in_paths",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FOLDER",
    callback=_require_files,
    help="Only search the files in FOLDER. New and changed files are indexed first. FOLDER can also be a file. "
    "Repeatable.",
)


class IndexedPaths(NamedTuple):
    """The result of indexing some paths."""

    search: SimilaritySearch
    problems: list[str]  # one sentence per problem
    document_count: int  # in the paths
    skipped: Sequence[SkippedFile] = ()


@contextmanager
def source_progress(
    sources: Iterable[Source], paths: Iterable[str], *, hidden: bool, archives: bool = False
) -> Iterator[tuple[Iterator[Source], Callable[[int], None]]]:
    """Show the progress of indexing. The files of folders are listed first, so that their number is known.

    Nothing is listed if one of the `paths` is a file, because the lines of a JSONL file may not fit into memory. The
    number of the members of `archives` is not known in advance.

    Yields:
        All sources, and a function that takes the number of documents that were finished.
    """
    sources, total = iter(sources), None
    if not archives and all(map(os.path.isdir, paths)):
        listed = list(islice(sources, _MAX_LISTED_SOURCES))
        total = len(listed) if len(listed) < _MAX_LISTED_SOURCES else None
        sources = chain(listed, sources)
    with document_progress(hidden=hidden, has_total=total is not None) as update:
        finished_count = 0

        def advance(count: int) -> None:
            nonlocal finished_count
            finished_count += count
            # One file can have several documents, such as an e-mail with attachments.
            update(completed=finished_count, total=total and max(total, finished_count))

        update(total=total)
        yield sources, advance


def take_missing_paths(
    paths: Sequence[str], location: str, engine: EngineKind | None, *, prune_all: bool
) -> tuple[list[str], list[SkippedFile], list[str]]:
    """Set aside the indexed paths that do not exist or have no files.

    Returns:
        The other paths. With `prune_all`, the paths that were set aside, as skipped files, so that a run removes their
        documents. Without `prune_all`, a sentence about each path that was set aside.
    """
    from simdoc_search.documents import SkippedFile
    from simdoc_search.indexing.pruning import has_no_files
    from simdoc_search.indexing.skip_reasons import NO_FILES_REASON
    from simdoc_search.stores import open_store

    missing: dict[str, int] = {}
    problems = []
    if without_files := list(filter(has_no_files, paths)):
        with suppress(StoreNotFoundError), open_store(location, engine=engine) as store:
            counts = {path: store.count(os.path.abspath(path)) for path in without_files}  # noqa: PTH100
            missing = {path: count for path, count in counts.items() if count}
    for path, count in missing.items() if not prune_all else ():
        problem = "has no files" if Path(path).exists() else "does not exist"
        has = f"{path} {problem}, but the index has {format_count(count, 'document')} of it"
        command = command_line(location, "index", path, "--prune-all")
        problems.append(f"{has}. Connect its disk, or remove {'it' if count == 1 else 'them'} with: {command}")
    skipped = [SkippedFile(path, NO_FILES_REASON, os.path.abspath(path)) for path in missing if prune_all]  # noqa: PTH100
    return [path for path in paths if path not in missing], skipped, problems


def index_paths(
    paths: tuple[str, ...],
    index: ChosenIndex,
    on_written: Callable[[str], None] = lambda _: None,
    *,
    workers: int,
    quiet: bool,
    compares_skipped: bool = False,
    **open_options: Any,
) -> IndexedPaths:
    """Index some paths, and print the problems. Without paths, only open the store.

    `on_written` is called with the id of each document that was added or replaced. `compares_skipped` says whether the
    command compares the bytes of skipped files. `open_options` are further arguments of `open_store`.
    """
    from simdoc_search.search.similarity_search import SimilaritySearch

    if not paths:
        return IndexedPaths(SimilaritySearch(index.open(**open_options)), [], 0)
    from simdoc_search.corpus import read_corpus
    from simdoc_search.corpus.file_reader import ARCHIVE_REASON
    from simdoc_search.indexing.run import FILE_TIMEOUT, require_readable_sources
    from simdoc_search.workers import ItemLimits, memory_per_worker

    problems: list[str] = []
    limits = ItemLimits(FILE_TIMEOUT, memory_per_worker(workers))
    exclude = read_config_value("index", "exclude_files") or ()  # index the same files as `simdoc-search index`
    sources = require_readable_sources(read_corpus(paths, exclude=exclude, limits=limits), problems)
    search = SimilaritySearch(index.open(create=True, **open_options))
    archives = bool(read_config_value("index", "archives"))
    with (
        explain_interruption(INTERRUPTED_INDEXING),
        source_progress(sources, paths, hidden=quiet, archives=archives) as (sources, progress),
    ):
        report = search.index(
            sources,
            workers=workers,
            archives=archives,
            add_folder_prefix=True,
            progress=progress,
            on_written=on_written,
        )
    skipped = f", {len(report.skipped):,} skipped" if report.skipped else ""
    counts = f"{report.added_count + report.replaced_count:,} indexed, {report.unchanged_count:,} unchanged{skipped}"
    say(f"{counts} in {report.seconds:.1f} s; the index is in {without_credentials(index.location)}", err=True)
    is_first_run = not (report.unchanged_count or report.replaced_count)  # later runs only count skipped files
    if is_first_run and report.skipped:
        use = (
            "at most the bytes of skipped files are compared" if compares_skipped else "skipped files are not searched"
        )
        say(f"{use}; to see which they are, and why, run: {command_line(index.location, 'index', *paths)}", err=True)
    archive_count = sum(file.reason == ARCHIVE_REASON for file in report.skipped)
    if is_first_run and archive_count:
        archives_are = format_count(
            archive_count, "skipped file is an archive or a mailbox", "skipped files are archives or mailboxes"
        )
        command = command_line(index.location, "index", *paths, "--archives")
        say(f"{archives_are}; to search the documents inside too, first run: {command}", err=True)
    for note in report.notes:
        say(note, err=True)
    problems += report.problems
    if report.refused:
        problems.append(f"the index refused {format_count(len(report.refused), 'document')}")
    for problem in problems:
        say(f"Error: {problem}", err=True)
    document_count = report.added_count + report.replaced_count + report.unchanged_count
    return IndexedPaths(search, problems, document_count, report.skipped)


def open_paths(
    paths: tuple[Path, ...], index: ChosenIndex, *, workers: int, quiet: bool, **open_options: Any
) -> tuple[IndexedPaths, list[dict[str, Any]]]:
    """Index the paths of `--in`, and return the result and the filters for their documents.

    Without paths, only open the store. Then there are no filters. The arguments and errors are those of `index_paths`.
    """
    names = tuple(map(str, paths))
    indexed = index_paths(names, index, workers=workers, quiet=quiet, **open_options)
    if not names:
        return indexed, []
    from simdoc_search.indexing.input_paths import make_origin_filter

    return indexed, [make_origin_filter(indexed.search.store, names)]
