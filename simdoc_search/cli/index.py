"""`simdoc-search index`: indexes folders, files and tables."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import explain_interruption, json_option, print_json, workers_option
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import store_option
from simdoc_search.cli.index_options import (
    analysis_options,
    check_stored_settings,
    choose_excluded_parts,
    excluded_part_options,
    extractor_options,
    for_new_stores,
    make_extractor,
    sketch_option,
    token_kinds_option,
    with_token_kinds,
    word_options,
)
from simdoc_search.cli.index_output import print_report, report_as_json
from simdoc_search.cli.index_paths import INTERRUPTED_INDEXING, source_progress, take_missing_paths
from simdoc_search.cli.index_upgrade import upgrade
from simdoc_search.cli.index_watch import FolderWatch
from simdoc_search.cli.query_options import percent_type
from simdoc_search.cli.settings_options import make_settings_changer, passage_options
from simdoc_search.display import format_count
from simdoc_search.errors import FormatMismatchError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import DEFAULT_ITEM_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdoc_search.corpus import Source
    from simdoc_search.sketch.token_kinds import TokenKindName
    from simdoc_search.stores.location import EngineKind


@click.command(cls=Command, main_options=["--prune", "--watch", "--archives", "--exclude-files", "--with"])
@click.argument("paths", nargs=-1, metavar="[PATH...]", shell_complete=complete_paths)
@store_option
@workers_option
@click.option(
    "--checksum", is_flag=True, help="Read all files, even if their size and modification time are unchanged."
)
@click.option("--archives", is_flag=True,
              help="Also read archives (.zip .tar .tgz ...) and mailboxes (.mbox) in folders.")  # fmt: skip
@click.option("--prune", is_flag=True,
              help="Remove documents whose files no longer exist, unless over half of a folder's files are "
              "missing.")  # fmt: skip
@click.option("--prune-all", is_flag=True,
              help="Like --prune, even if most files of a folder are missing, or the folder itself.")  # fmt: skip
@click.option("--prefix", metavar="PREFIX", help="Prefix to add to each id, such as b/ for the files of folder b.")
@click.option("--max-size", type=click.FloatRange(min=0), default=50, show_default=True, metavar="MB",
              help="Skip files, JSONL lines and table rows that are larger than this.")  # fmt: skip
@click.option("--exclude-files", multiple=True, metavar="PATTERN",
              help="Skip files and folders that match PATTERN, such as '*.log' or drafts/. Repeatable.")  # fmt: skip
@click.option("--follow-links", is_flag=True,
              help="Also follow symbolic links that lead out of a folder. Only use this option if nobody else "
              "can write to the folder.")  # fmt: skip
@click.option(
    "--id-field", metavar="FIELD", default="id", show_default=True,
    help="JSONL field or table column that contains the id.",
)  # fmt: skip
@click.option(
    "--text-field", metavar="FIELD", default="text", show_default=True,
    help="JSONL field or table column that contains the text.",
)  # fmt: skip
@click.option("--no-texts", is_flag=True, help="New index: keep only the fingerprints, not the texts.")
@for_new_stores(analysis_options, word_options, sketch_option, passage_options)
@token_kinds_option(
    "Also store the data that these commands need: sentences for `versions`, concepts (names and keywords) for "
    "`related`."
)
@extractor_options
@click.option("--language", is_flag=True, help="New index: identify the language of each document.")
@for_new_stores(excluded_part_options)
@click.option(
    "--file-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_ITEM_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Skip a file that takes longer than this to read.",
)
@click.option("--worker-memory", type=click.IntRange(min=256), metavar="MB",
              help="Skip a file that needs more memory than this to read.  "
              "[default: 1000 to 4000, depending on the machine]")  # fmt: skip
@click.option("--reject-duplicates", type=percent_type, metavar="PERCENT",
              help="Skip a new document that overlaps another one by this percentage or more.")  # fmt: skip
@click.option(
    "--fail-on-skip",
    is_flag=True,
    help="Exit with status 1 if a file was skipped. Hidden and binary files, links and pipes do not count.",
)
@click.option("--watch", is_flag=True, help="Keep running and index files as they change, until Ctrl-C.")
@json_option
def index(
    paths: tuple[str, ...],
    store: str,
    engine: EngineKind | None,
    workers: int,
    checksum: bool,
    archives: bool,
    prune: bool,
    prune_all: bool,
    prefix: str | None,
    max_size: float,
    exclude_files: tuple[str, ...],
    follow_links: bool,
    id_field: str,
    text_field: str,
    no_texts: bool,
    token_kinds: tuple[TokenKindName, ...],
    extractor_name: str | None,
    synonyms: Path | None,
    language: bool,
    front_matter: str,
    quoted_replies: str,
    file_timeout: float,
    worker_memory: int | None,
    reject_duplicates: Fraction | None,
    fail_on_skip: bool,
    watch: bool,
    as_json: bool,
    **new_store_options: Any,
) -> None:
    """Index folders, files, tables or stdin (-).

    Run the command again to update the index. It then reads only the files that changed. After an interruption, run it
    again to resume.

    \b
      simdoc-search index ./corpus
      simdoc-search index documents.jsonl --store ./docs.simdoc
      simdoc-search index ./b --prefix b/

    The command reads plain text in any encoding, Markdown, HTML, .docx, .odt, .odp and .epub. Install
    simdoc-search[documents] to also read .pdf .rtf .doc .ppt .pptx .xls .xlsx .ods .eml .msg. Templates and files with
    macros, such as .dotx and .xlsm, are read too. If PATH names a table (.jsonl .ndjson .jsonl.gz .ndjson.gz .csv .tsv
    .parquet), each of its rows is a document.

    Archives (.zip .tar .tgz .tar.gz .tar.bz2 .tar.xz) and mailboxes (.mbox, also as .gz) are read if PATH names them,
    or with --archives. Later runs update indexed archives even without --archives. The files in them have ids like
    old.zip!2021/Report.txt and mail.mbox!Re: thing.eml.

    --with versions stores the sentences of each document. In a test with 357 documents, this made `versions` ten times
    as fast. --with related stores concepts for `related`. Both also upgrade an existing index that has texts. PATH is
    then optional. In a test with 1,389 files, --with versions made the index 13 % larger, and indexing took 1.7 times
    as long. --with versions,related made it 32 % larger, and indexing took 5 times as long.

    --language adds the metadata field `language` to each document that does not have it. Its value is a code such as
    `de`, `zh` or `yue`, or else `mixed` or `unknown`. Select documents with --filter language=de, and count them with
    `languages`.

    --reject-duplicates skips a new document that overlaps a stored document, or an earlier document of the same run, by
    the given percentage or more. The report names both documents and their overlap. A new version of a stored document
    (with the same id) is not skipped.

    If somebody might craft texts to mislead the search, set SIMDOC_HASH_KEY to a secret (openssl rand -hex 32) before
    you create the index. Fingerprinting then takes twice as long, and every command needs the same key.

    Files that cannot be indexed are listed with the reason. If there are many, only --json lists all of them. The exit
    status is 1 if a path could not be read, if the index refused a document, or if --prune kept documents because their
    files may only be temporarily unreachable. All other documents are indexed.
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing.run import require_readable_sources
    from simdoc_search.indexing.skip_reasons import is_unexpected
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores import open_store
    from simdoc_search.stores.sentences_and_concepts import check_can_index, choose_extractor
    from simdoc_search.workers import ItemLimits, memory_per_worker

    watcher = FolderWatch(paths) if watch else None  # created before files are read, so that no change is missed
    if not math.isfinite(max_size):
        raise click.BadParameter(f"{max_size} is not a size; give a number of megabytes", param_hint="--max-size")
    stored_settings = _read_stored_settings(store, engine)
    if not paths and not (stored_settings and token_kinds):
        raise click.UsageError("Missing argument 'PATH...'.")
    extractor = make_extractor(extractor_name, synonyms, stored_settings)
    if extractor and not stored_settings and "concepts" not in token_kinds:
        raise click.UsageError("--extractor and --synonyms only work with --with related; add this option")
    requested = with_token_kinds(
        Settings(identifies_language=language, excluded_parts=choose_excluded_parts(front_matter, quoted_replies)),
        token_kinds,
        extractor,
    )
    if stored_settings and token_kinds:
        stored_settings = upgrade(
            store, engine, token_kinds, extractor, hide_progress=as_json, reports_unchanged=not paths
        )
    elif not stored_settings:
        check_can_index(requested, choose_extractor(requested, extractor), store)
    if not paths:
        return
    settings = _choose_settings(store, stored_settings, requested, new_store_options)
    memory = worker_memory * 1_000_000 if worker_memory else memory_per_worker(workers)
    reading_options: dict[str, Any] = {
        "max_bytes": int(max_size * 1e6),
        "follow_links": follow_links,
        "exclude": exclude_files,
    }
    limits = ItemLimits(file_timeout, memory)
    existing, missing, problems = take_missing_paths(paths, store, engine, prune_all=prune_all)
    corpus = read_corpus(existing, **reading_options, id_field=id_field, text_field=text_field, limits=limits)
    sources = require_readable_sources(chain(missing, corpus), problems)  # raises before an empty store is created
    search = SimilaritySearch(
        open_store(store, settings, create=True, store_texts=False if no_texts else None, engine=engine)
    )
    options: dict[str, Any] = {
        "workers": workers,
        "checksum": checksum,
        "archives": archives,
        "prefix": prefix,
        "file_timeout": file_timeout,
        "worker_memory": memory,
        "reject_duplicates": reject_duplicates,
        "extractor": extractor,
    }

    def index_sources(sources: Iterator[Source], problems: Sequence[str] = (), **more: Any) -> bool:
        """Index the sources, print the report, and return whether nothing failed."""
        with source_progress(sources, paths, hidden=as_json, archives=archives) as (listed, progress):
            report = search.index(listed, progress=progress, **options, **more)
        report.problems[:0] = problems
        if fail_on_skip and (unexpected_count := sum(map(is_unexpected, report.skipped))):
            documents_were = format_count(unexpected_count, "document was", "documents were")
            report.problems.append(f"{documents_were} skipped, and --fail-on-skip is set")
        print_json(report_as_json(report)) if as_json else print_report(report)
        return not report.has_failed

    with explain_interruption(INTERRUPTED_INDEXING):
        succeeded = index_sources(sources, problems, prune=prune, prune_all=prune_all)
        if watcher:
            watcher.run(search, index_sources, reading_options, prune=prune, prune_all=prune_all)
    if not succeeded:
        raise SystemExit(1)


def _read_stored_settings(store: str, engine: EngineKind | None) -> Settings | None:
    """Return the settings of an existing store; None if there is no store."""
    from simdoc_search.stores import open_store

    with suppress(StoreNotFoundError), open_store(store, engine=engine) as opened:
        return opened.settings
    return None


def _choose_settings(
    store: str, stored_settings: Settings | None, requested: Settings, options: dict[str, Any]
) -> Settings | None:
    """Return the settings with which to open the store; None if the options set nothing."""
    if requested == Settings() and all(value in (None, False) for value in options.values()):
        return None
    if stored_settings:
        check_stored_settings(stored_settings, requested, store)
    settings = make_settings_changer({**options, "token_kinds": ()})(stored_settings or requested)
    if (
        stored_settings and stored_settings.passages is None and settings.passages
    ):  # passages are on by default, so `check_stored_settings` does not notice that --passage-run requests them
        raise FormatMismatchError(
            f"the index {store} was created with --no-passages; omit --passage-run, or choose a new index with --store"
        )
    return settings
