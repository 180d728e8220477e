"""`simdoc-search languages`: counts documents by language."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import count_workers, document_progress, json_option, print_json, say
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_output import print_skipped_files
from simdoc_search.cli.input_text import read_text
from simdoc_search.cli.query_options import FilterPairs, filter_options, make_filters
from simdoc_search.display import format_count, format_percent
from simdoc_search.errors import CorpusError

if TYPE_CHECKING:
    from simdoc_search.indexing.language_detection import LanguageReport
    from simdoc_search.languages import LanguageIdentification

_NO_LANGUAGE = "not stated"
_MAX_CANDIDATES = 5


@click.command(cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_paths)
@filter_options
@click.option("--text", help="Identify the language of this text. Use - for stdin.")
@click.option("--each-document", is_flag=True, help="With PATH: also print the language of each document.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    callback=count_workers,
    help="With PATH: number of worker processes.  [default: one per core]",
)
@index_options(reads_texts=False)
@json_option
def languages(
    paths: tuple[str, ...],
    filters: FilterPairs,
    excluded: FilterPairs,
    text: str | None,
    each_document: bool,
    workers: int,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Count documents by language.

    Without PATH, the command counts the documents in the index. A stored document has a language if you indexed it with
    --language, or if its metadata names one. With PATH, the command identifies the languages of files and folders. It
    then does not need an index.

    \b
      simdoc-search languages
      simdoc-search languages ./corpus
      simdoc-search languages ./corpus --each-document
      simdoc-search languages --text 'Der Mieter zahlt die Miete am ersten Tag des Monats.'

    Languages are shown as codes, such as de, zh or yue. A document is `mixed` if a fifth or more of its text is in a
    second language. It is `unknown` if it has fewer than 40 letters, or if its language cannot be identified. A
    language in the document's metadata takes precedence. --each-document and --text also print the possible languages
    with their probabilities.
    """
    from simdoc_search.search.similarity_search import SimilaritySearch

    if text is not None:
        if paths or filters or excluded or each_document:
            raise click.UsageError("--text cannot be combined with PATH, --filter, --exclude or --each-document")
        _print_text_language(read_text(text), as_json)
        return
    if not paths:
        if each_document:
            raise click.UsageError("--each-document needs PATH; for an index, use: simdoc-search list --show language")
        search = SimilaritySearch(index.open())
        counts = search.languages(filters=make_filters(filters, excluded))
        if as_json:
            print_json(_counts_as_json(counts))
        else:
            _print_counts(counts)
        return
    if filters or excluded:
        raise click.UsageError("--filter and --exclude only work with an index; omit PATH or these options")
    report, problems = _identify(paths, workers, hide_progress=as_json)
    if as_json:
        rows = [{"path": name, **_candidates_as_json(identification)} for name, identification in report.documents]
        skipped = [{"path": skip.path, "reason": skip.reason} for skip in report.skipped_files]
        totals = {"bytes": report.byte_count, "seconds": report.seconds, "skipped": skipped, "problems": problems}
        print_json(_counts_as_json(report.languages) | ({"each_document": rows} if each_document else {}) | totals)
    else:
        if each_document:
            _print_languages(report.documents)
        _print_counts(report.languages)
        _print_speed(report)
        print_skipped_files(report.skipped_files, advice=False)
        for problem in problems:
            say(f"Error: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def _identify(paths: tuple[str, ...], workers: int, *, hide_progress: bool) -> tuple[LanguageReport, list[str]]:
    """Return the languages of the documents, and a message for each path that cannot be read."""
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing.language_detection import identify_documents
    from simdoc_search.indexing.run import FILE_TIMEOUT, skip_unreadable_sources
    from simdoc_search.workers import ItemLimits, memory_per_worker

    limits, problems = ItemLimits(FILE_TIMEOUT, memory_per_worker(workers)), list[str]()
    sources = skip_unreadable_sources(read_corpus(paths, limits=limits), problems)
    with document_progress(hidden=hide_progress) as update:
        report = identify_documents(sources, workers=workers, limits=limits, progress=lambda n: update(advance=n))
    if problems and not report.languages:
        raise CorpusError("; ".join(problems))
    return report, problems


def _print_text_language(text: str, as_json: bool) -> None:
    from simdoc_search.languages import identify_language

    identification = identify_language(text)
    if as_json:
        print_json(_candidates_as_json(identification))
        return
    say(identification.language)
    for code, probability in identification.candidates[:_MAX_CANDIDATES]:
        say(f"{code:<{len(_NO_LANGUAGE)}}  {format_percent(probability, 1):>7}")


def _print_languages(rows: list[tuple[str, LanguageIdentification]]) -> None:
    for name, identification in rows:
        shown = identification.candidates[:_MAX_CANDIDATES]
        candidates = ", ".join(f"{code} {format_percent(probability, 1)}" for code, probability in shown)
        say(
            f"{identification.language or _NO_LANGUAGE:<{len(_NO_LANGUAGE)}}  {name}"
            + (f"  ({candidates})" if candidates else "")
        )
    say()


def _print_counts(counts: Counter[str]) -> None:
    total = counts.total()
    width = max(map(len, [_NO_LANGUAGE, *counts]))
    for name, count in _sort_counts(counts):
        say(f"{name or _NO_LANGUAGE:<{width}}  {count:>9,}  {format_percent(count / total, 1):>7}")
    if set(counts) == {""}:
        say(
            "no document in the index has a language; to identify languages, index the documents into a new "
            "index with --language",
            err=True,
        )
    if not total:
        say("no documents")


def _print_speed(report: LanguageReport) -> None:
    count, seconds, size = report.languages.total(), max(report.seconds, 1e-9), report.byte_count / 1e6
    speed = f"{count / seconds:,.0f} documents/s, {size / seconds:,.1f} MB/s"
    say(f"{format_count(count, 'document')}, {size:,.1f} MB in {seconds:.1f} s: {speed}")


def _candidates_as_json(identification: LanguageIdentification) -> dict[str, Any]:
    candidates = [
        {"language": code, "probability": round(probability, 6)} for code, probability in identification.candidates
    ]
    return {"language": identification.language or None, "candidates": candidates}


def _counts_as_json(counts: Counter[str]) -> dict[str, Any]:
    total = counts.total()
    rows = [{"language": name or None, "document_count": n, "share": n / total} for name, n in _sort_counts(counts)]
    return {"document_count": total, "languages": rows}


def _sort_counts(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the counts, the largest first. Documents without a language come last."""
    return sorted(counts.items(), key=lambda item: (not item[0], -item[1], item[0]))
