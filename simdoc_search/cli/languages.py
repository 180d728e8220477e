"""`simdoc-search languages`: in which languages are the documents?"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    document_progress,
    errors_as_sentences,
    field_option,
    json_option,
    print_json,
    say,
    store_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.index_output import print_skipped
from simdoc_search.cli.input_text import read_file
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import GivenFilters, filter_options, filters_of
from simdoc_search.display import counted, percent
from simdoc_search.errors import CorpusError

if TYPE_CHECKING:
    from simdoc_search.indexing import LanguageReport
    from simdoc_search.languages import Identified
    from simdoc_search.stores.location import EngineKind

_NONE = "not said"
_SHOWN = 5  # candidates for the language of a text


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_paths)
@filter_options
@click.option("--text", help="Of this text; - reads it from stdin.")
@click.option("--each", is_flag=True, help="Of PATH: a line for each document.")
@click.option("--workers", type=click.IntRange(min=1), help="Of PATH: processes to read with.  [default: one per core]")
@field_option
@store_option
@json_option
@errors_as_sentences
def languages(
    paths: tuple[str, ...],
    filters: GivenFilters,
    excluded: GivenFilters,
    text: str | None,
    each: bool,
    workers: int | None,
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show in which languages documents are: those of the store, or those of folders and files, which need no store.

    \b
      simdoc-search index ./corpus --language
      simdoc-search languages
      simdoc-search languages ./corpus
      simdoc-search languages ./corpus --each
      simdoc-search languages --text 'Der Mieter zahlt die Miete am ersten Tag des Monats.'

    A language is a code: de, zh, yue. A document of which a fifth or more is in another language is mixed; one of fewer
    than 40 letters, or in nothing that is known, is unknown. What a document says itself, in its metadata, counts. With
    --each and --text the languages that a text may be in follow, with the probability of each.
    """
    from simdoc_search.search import SimilaritySearch

    if text is not None:
        if paths or filters or excluded or each:
            raise click.UsageError("--text is asked alone; leave out the rest")
        _print_text(read_file(Path("-")) if text == "-" else text, as_json)
        return
    if not paths:
        if each:
            raise click.UsageError("--each is for PATH; of a store ask simdoc-search list --show language")
        search = SimilaritySearch(open_to_ask(store, engine=engine, field=field))
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
        rows = [{"path": name, **_candidates_as_json(said)} for name, said in report.each] if each else None
        print_json(
            _counts_as_json(report.languages) | ({"each": rows} if each else {}) | _report_as_json(report, problems)
        )
    else:
        if each:
            _print_each(report.each)
        _print_counts(report.languages)
        say(_speed(report))
        print_skipped(report.skipped, advice=False)
        for problem in problems:
            say(f"Error: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def _identified(paths: tuple[str, ...], workers: int, *, hidden: bool) -> tuple[LanguageReport, list[str]]:
    """What the documents are in, and a sentence for each path that could not be read."""
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing import FILE_TIMEOUT, identify_documents, skip_unreadable
    from simdoc_search.workers import ItemLimits, fair_memory

    limits, problems = ItemLimits(FILE_TIMEOUT, fair_memory(workers)), list[str]()
    sources = skip_unreadable(read_corpus(paths, limits=limits), problems)
    with document_progress(hidden=hidden) as update:
        report = identify_documents(sources, workers=workers, limits=limits, progress=lambda n: update(advance=n))
    if problems and not report.languages:
        raise CorpusError("; ".join(problems))
    return report, problems


def _print_text(text: str, as_json: bool) -> None:
    from simdoc_search.languages import identified

    found = identified(text)
    if as_json:
        print_json(_candidates_as_json(found))
        return
    say(found.language)
    for code, chance in found.candidates[:_SHOWN]:
        say(f"{code:<{len(_NONE)}}  {percent(chance, 1):>7}")


def _print_each(rows: list[tuple[str, Identified]]) -> None:
    for name, found in rows:
        likely = ", ".join(f"{code} {percent(chance, 1)}" for code, chance in found.candidates[:_SHOWN])
        say(f"{found.language or _NONE:<{len(_NONE)}}  {name}" + (f"  ({likely})" if likely else ""))
    say()


def _candidates_as_json(found: Identified) -> dict[str, Any]:
    likely = [{"language": code, "probability": round(chance, 6)} for code, chance in found.candidates]
    return {"language": found.language or None, "candidates": likely}


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
        say("no document says its language; index into a new store with --language", err=True)
    if not total:
        say("no documents")


def _speed(report: LanguageReport) -> str:
    count, seconds = report.languages.total(), max(report.seconds, 1e-9)
    size = report.bytes / 1e6
    speed = f"{count / seconds:,.0f} documents/s, {size / seconds:,.1f} MB/s"
    return f"{counted(count, 'document')}, {size:,.1f} MB in {seconds:.1f} s: {speed}"
