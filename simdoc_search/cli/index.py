"""`simdoc-search index`: put documents into the store."""

from __future__ import annotations

import itertools
import math
import os
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    Interrupted,
    document_progress,
    errors_as_sentences,
    json_option,
    print_json,
    store_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.index_report import print_report, report_as_json
from simdoc_search.cli.index_upgrade import made_ready
from simdoc_search.cli.index_watch import Watching
from simdoc_search.cli.passage_options import passages_of, with_passage_options
from simdoc_search.cli.query_options import percent_type
from simdoc_search.cli.sketch_options import (
    analysis_options,
    check_store_has,
    chosen_extractor,
    extractor_options,
    for_new_stores,
    kinds_option,
    left_out_options,
    parse_sketch,
    sketch_option,
    skipped_parts,
    with_kinds,
    with_sketch,
    word_options,
    word_settings,
)
from simdoc_search.display import counted
from simdoc_search.errors import CorpusError, FormatMismatchError, StoreNotFoundError
from simdoc_search.indexing import FILE_TIMEOUT, going_on
from simdoc_search.indexing.skip_reasons import matters
from simdoc_search.sketch.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdoc_search.indexing import Source
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.stores.location import EngineKind


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]", shell_complete=complete_paths)
@store_option
@click.option("--workers", type=click.IntRange(min=1), help="Processes to read with.  [default: one per core]")
@click.option("--checksum", is_flag=True, help="Read files again even if size and time of change are as before.")
@click.option("--archives", is_flag=True,
              help="Look into archives (.zip .tar .tgz ...) and mailboxes (.mbox) too.")  # fmt: skip
@click.option("--prune", is_flag=True, help="Remove documents whose file has vanished from the folders.")
@click.option("--prune-all", is_flag=True, help="The same, also if no file is left or more than half would go.")
@click.option("--prefix", metavar="PREFIX", help="Begin the ids of the files with this, say b/ for the folder b.")
@click.option("--max-size", type=click.FloatRange(min=0), default=50, show_default=True, metavar="MB",
              help="Skip larger files, lines of JSONL and rows of tables.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="PATTERN",
              help="Leave out of folders what is named so: '*.log', drafts/. May be repeated.")  # fmt: skip
@click.option("--follow-links", is_flag=True,
              help="Follow links that lead out of a named folder too. Only where nobody else can write.")  # fmt: skip
@click.option("--id-field", default="id", show_default=True, help="JSONL: the key of the id.")
@click.option("--text-field", default="text", show_default=True, help="JSONL: the key of the text.")
@click.option("--stdin-id", metavar="ID", help="Stdin (-) is one plain text with this id. Otherwise it is JSONL.")
@click.option("--no-texts", is_flag=True, help="New store: keep no texts, only fingerprints.")
@for_new_stores(analysis_options, word_options, sketch_option, with_passage_options)
@kinds_option("Add what finds versions of a document by their sentences, or related documents.")
@extractor_options
@click.option("--language", is_flag=True, help="New store: identify the language of each document.")
@for_new_stores(left_out_options)
@click.option(
    "--file-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=FILE_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Skip a file that takes longer to read.",
)
@click.option("--worker-memory", type=click.IntRange(min=256), metavar="MB",
              help="Skip a file that needs more to read.  [default: 1000 to 4000, by machine and workers]")  # fmt: skip
@click.option("--reject-duplicates", type=percent_type, metavar="OVERLAP",
              help="Skip new documents that overlap another one by so many percent.")  # fmt: skip
@click.option(
    "--fail-on-skip",
    is_flag=True,
    help="Exit with 1 if anything was skipped but for what is hidden, binary, a link, a pipe or a store.",
)
@click.option("--watch", is_flag=True, help="Go on: index what changes in the folders as it changes, until Ctrl-C.")
@json_option
@errors_as_sentences
def index(
    paths: tuple[str, ...],
    store: str,
    engine: EngineKind | None,
    workers: int | None,
    checksum: bool,
    archives: bool,
    prune: bool,
    prune_all: bool,
    prefix: str | None,
    max_size: float,
    exclude: tuple[str, ...],
    follow_links: bool,
    id_field: str,
    text_field: str,
    stdin_id: str | None,
    no_texts: bool,
    profile: str | None,
    shingle_size: int | None,
    unit: str | None,
    stop_words: str | None,
    stem: str | None,
    frequencies: bool | None,
    sketch: str | None,
    no_passages: bool,
    passage_run: int | None,
    kinds: tuple[KindName, ...],
    concepts: str | None,
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
) -> None:
    """Index folders, files, JSONL files (named *.jsonl) or stdin (-).

    Run it again to bring the index up to date: only what changed is read. An interrupted run is completed by running
    it again.

    Where people may write texts to mislead the search, set SIMDOC_HASH_KEY to a secret (openssl rand -hex 32) before a
    store is made: fingerprints are then made with it, at half the speed. Every command needs the same key from then on.

    \b
      simdoc-search index ./corpus
      simdoc-search index documents.jsonl --store ./docs.simdoc
      simdoc-search index ./b --prefix b/

    Read are plain text of any encoding, Markdown and HTML; with pip install 'simdoc-search[documents]' also .pdf
    .epub .rtf .doc .docx .docm .odt .ppt .pptx .odp .xls .xlsx .ods .eml .msg; named by themselves, tables: .jsonl
    .ndjson (also .gz), .csv .tsv .parquet.

    With --archives, or named by themselves, archives (.zip .tar .tgz .tar.gz .tar.bz2 .tar.xz) and mailboxes (.mbox,
    also .gz) are folders: old.zip!2021/Report.txt, mail.mbox!Re: thing.eml. Later runs look into them too.

    --with relations keeps the concepts of each document, for the command related. --with versions keeps its sentences,
    by which versions answered in a tenth of the time among 357 documents. Both also upgrade a store that is there,
    from its texts; no PATH is needed then. Among 1,500 files, versions made a store 13 % larger, and indexing took 1.8
    times as long; with relations too 34 %, and 15 times.

    With --language each document gets the metadata field language unless it has one: de, zh, yue, mixed, unknown. Then
    --filter language=de asks for it, and simdoc-search languages counts them.

    With --reject-duplicates a new document that is nearly one of the store, or an earlier one of the run, is skipped
    and listed with that one's id and their overlap; a new version of a stored document is not.

    What gives no document is listed with the reason, and --json has the whole list. Exit code 1: a path could not be
    read, the store refused something, or --prune left what may only be out of reach; all else is done.
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store
    from simdoc_search.workers import Limits, fair_memory

    watching = Watching(paths) if watch else None  # before anything is read, so that nothing is missed
    if not math.isfinite(max_size):
        raise click.BadParameter(f"{max_size} is not a size; give megabytes", param_hint="--max-size")
    chosen: dict[str, Any] = {
        "profile": profile,
        "shingle_size": shingle_size,
        "unit": unit,
        **word_settings(stop_words, stem, frequencies),
    }
    analysis = {name: value for name, value in chosen.items() if value is not None}
    there = _there(store, engine)
    extractor = chosen_extractor(concepts, synonyms, there)
    if extractor and not there and "concepts" not in kinds:
        raise click.UsageError("--concepts and --synonyms are for --with relations; give that too")
    beside = with_kinds(
        Settings(language=language, left_out=skipped_parts(front_matter, quoted_replies)), kinds, extractor
    )
    there = made_ready(there, beside, store, engine, kinds, extractor, has_paths=bool(paths), hidden=as_json)
    if not paths:
        return
    settings = _settings(store, there, analysis, beside, sketch, no_passages=no_passages, passage_run=passage_run)
    workers = workers or os.cpu_count() or 1
    memory = worker_memory * 1_000_000 if worker_memory else fair_memory(workers)
    files: dict[str, Any] = {"max_bytes": int(max_size * 1e6), "follow_links": follow_links, "exclude": exclude}
    sources = read_corpus(
        paths,
        **files,
        id_field=id_field,
        text_field=text_field,
        stdin_id=stdin_id,
        limits=Limits(file_timeout, memory),
    )
    problems: list[str] = []
    rest = going_on(sources, problems)
    first = list(itertools.islice(rest, 1))
    if problems and not first:  # before a store is made for nothing
        raise CorpusError("; ".join(problems))
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

    def run(some: Iterator[Source], problems: Sequence[str] = (), **more: Any) -> bool:
        """Whether all went as it should; what was done is said."""
        with document_progress(hidden=as_json) as update:
            report = search.index(some, progress=lambda count: update(advance=count), **options, **more)
        report.problems[:0] = problems
        if fail_on_skip and (missing := sum(map(matters, report.skipped))):
            skipped = counted(missing, "document was", "documents were")
            report.problems.append(f"{skipped} skipped, and --fail-on-skip is set")
        if as_json:
            print_json(report_as_json(report))
        else:
            print_report(report)
        return not report.failed

    try:
        done = run(itertools.chain(first, rest), problems, prune=prune, prune_all=prune_all)
        if watching:
            watching.go_on(search, run, files, prune=prune, prune_all=prune_all)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was ready is stored, run the same command to go on") from None
    if not done:
        raise SystemExit(1)


def _there(store: str, engine: EngineKind | None) -> Settings | None:
    """The settings of the store that is there already, if one is."""
    from simdoc_search.stores import open_store

    with suppress(StoreNotFoundError), open_store(store, engine=engine) as opened:
        return opened.settings
    return None


def _settings(
    store: str,
    there: Settings | None,
    chosen: dict[str, Any],
    beside: Settings,
    sketch: str | None,
    *,
    no_passages: bool,
    passage_run: int | None,
) -> Settings | None:
    """What the options ask for; what they leave open is as the store has it."""
    told = no_passages or passage_run is not None
    if not chosen and not sketch and not told and beside == Settings():
        return None
    if there:
        check_store_has(there, beside, store)
    here = there or beside
    asked = replace(here, analysis=replace(here.analysis, **chosen))
    if sketch:
        asked = with_sketch(asked, parse_sketch(sketch))
    if not told:
        return asked
    asked = replace(asked, passages=passages_of(no_passages, passage_run, asked.analysis.shingle_size))
    if there and there.passages is None and asked.passages:  # which a library takes, as it asks by default
        raise FormatMismatchError(
            f"the store {store} was made without passages; leave out --passage-run, or index into a new store"
        )
    return asked
