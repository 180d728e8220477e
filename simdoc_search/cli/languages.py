"""`simdoc-search languages`: in which languages are the documents?"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.asking import Given, filter_options, filters_of
from simdoc_search.cli.common import (
    counted,
    document_progress,
    errors_as_sentences,
    json_option,
    print_json,
    say,
    store_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.index_report import print_skipped
from simdoc_search.errors import CorpusError
from simdoc_search.showing import percent

if TYPE_CHECKING:
    from simdoc_search.indexing import LanguageReport
    from simdoc_search.stores.location import EngineKind

__all__ = ["languages"]

_NONE = "not said"


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_paths)
@filter_options
@click.option("--workers", type=click.IntRange(min=1), help="Of PATH: processes to read with.  [default: one per core]")
@store_option
@json_option
@errors_as_sentences
def languages(
    paths: tuple[str, ...],
    filters: Given,
    excluded: Given,
    workers: int | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show in which languages documents are: those of the store, or those of folders and files, which need no store.

    \b
      simdoc-search index ./corpus --language
      simdoc-search languages
      simdoc-search languages ./corpus

    A language is a code: de, zh, yue. A document of which a fifth or more is in another language is mixed; one of fewer
    than 40 letters, or in nothing that is known, is unknown. What a document says itself, in its metadata, counts.
    """
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if not paths:
        search = SimilaritySearch(open_store(store, engine=engine))
        found = search.languages(filters=filters_of(filters, excluded))
        if as_json:
            print_json(_counts_as_json(found))
        else:
            _print_counts(found)
        return
    if filters or excluded:
        raise click.UsageError("--filter and --exclude are for the documents of a store; leave out PATH, or them")
    report, problems = _identified(paths, workers or os.cpu_count() or 1, hidden=as_json)
    if as_json:
        print_json(_counts_as_json(report.languages) | _report_as_json(report, problems))
    else:
        _print_counts(report.languages)
        say(_speed(report))
        print_skipped(report.skipped, advice=False)
        for each in problems:
            say(f"Error: {each}", err=True)
    if problems:
        raise SystemExit(1)


def _identified(paths: tuple[str, ...], workers: int, *, hidden: bool) -> tuple[LanguageReport, list[str]]:
    """What the documents are in, and a sentence for each path that could not be read."""
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing import FILE_TIMEOUT, going_on, identify_documents
    from simdoc_search.workers import Limits, fair_memory

    limits, problems = Limits(FILE_TIMEOUT, fair_memory(workers)), list[str]()
    sources = going_on(read_corpus(paths, limits=limits), problems)
    with document_progress(hidden=hidden) as update:
        report = identify_documents(sources, workers=workers, limits=limits, progress=lambda n: update(advance=n))
    if problems and not report.languages:
        raise CorpusError("; ".join(problems))
    return report, problems


def _ordered(found: Counter[str]) -> list[tuple[str, int]]:
    """Most documents first, those that say no language last."""
    return sorted(found.items(), key=lambda each: (not each[0], -each[1], each[0]))


def _counts_as_json(found: Counter[str]) -> dict[str, Any]:
    total = found.total()
    each = [{"language": name or None, "documents": n, "share": n / total} for name, n in _ordered(found)]
    return {"documents": total, "languages": each}


def _report_as_json(report: LanguageReport, problems: list[str]) -> dict[str, Any]:
    skipped = [{"path": each.path, "reason": each.reason} for each in report.skipped]
    return {"bytes": report.bytes, "seconds": report.seconds, "skipped": skipped, "problems": problems}


def _print_counts(found: Counter[str]) -> None:
    total = found.total()
    width = max(map(len, [_NONE, *found]))
    for name, count in _ordered(found):
        say(f"{name or _NONE:<{width}}  {count:>9,}  {percent(count / total, 1):>7}")
    if set(found) == {""}:
        say("no document says its language; index into another store with --language", err=True)
    if not total:
        say("no documents")


def _speed(report: LanguageReport) -> str:
    count, seconds = report.languages.total(), max(report.seconds, 1e-9)
    size = report.bytes / 1e6
    speed = f"{count / seconds:,.0f} documents/s, {size / seconds:,.1f} MB/s"
    return f"{counted(count, 'document')}, {size:,.1f} MB in {seconds:.1f} s: {speed}"
