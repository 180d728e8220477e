"""The page of documents that share passages with a document or a text."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from markupsafe import Markup

from simdoc_search import __version__
from simdoc_search.analysis.settings import Analysis
from simdoc_search.as_json.passages import passages_as_json
from simdoc_search.display import format_count
from simdoc_search.passages.align import PRESETS
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.report import Source, SourcedText, render_sources_view
from simdoc_search.passages.summary import count_passage_words, quote_matched_words
from simdoc_search.search.passage_result import PassageHit, PassageResult
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.stored_texts import read_records
from simdoc_search.web.columns import read_page_columns
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import MAX_HITS
from simdoc_search.web.request_query import read_ignored_texts, read_request_query
from simdoc_search.web.response import Page

_MIN_WORDS_UPPER_LIMIT = 10_000
_MAX_PASSAGES = 3
_MAX_SHOWN_CHARACTERS = 2_000_000
"""The maximum total number of characters of a text and its sources that a browser shows without delay."""


def passages(request: PageRequest) -> Page:
    """Return the documents that share passages with a document or a text."""
    search = request.served_store.passages_search()
    ignored = read_ignored_texts(request, search)
    options: dict[str, Any] = {
        "size": request.size,
        "offset": request.offset,
        "filters": request.filters(),
        "min_words": request.integer("min_words", 0, 1, _MIN_WORDS_UPPER_LIMIT) or None,
        "preset": request.preset,
        "compare_all": request.is_on("all"),
        "ignore": ignored.all,
        "ignore_quotes": request.is_on("ignore_quotes"),
        "ignore_bibliography": request.is_on("ignore_bibliography"),
    }
    query = read_request_query(request)
    result = search.passages(**query.arguments(), **options)
    name = query.name or "your text"
    keys = [hit.key for hit in result.hits]
    columns = read_page_columns(request, search, keys)
    values = {
        **query.template_values(request),
        "result": result,
        "headline": result.headline("the text" if query.key else "your text"),
        "view": None if request.wants_json else _render_view(name, result, search),
        "quotes": {hit.key: _longest_passages(hit, result, search.store.settings.analysis) for hit in result.hits},
        "columns": columns,
        "near_copy": result.near_copy if search.store.is_simdoc_index else None,
        "default_min_words": PRESETS[request.preset].min_run_for(result.word_count + result.ignored_word_count),
        "skipped_files_note": request.served_store.skipped_files_note(),
        "own_ignored_texts": ignored.own,
        "printed_notes": _describe_search(request, [name for name, _ in ignored.own]),
        "largest_size": min(result.total, MAX_HITS) if len(result.hits) < min(result.total, MAX_HITS) else None,
        "offsets": request.neighbour_page_offsets(len(result.hits), result.total),
    }
    as_json = passages_as_json({"id": query.id, "file": query.file}, result)
    return Page("passages.html", values, columns.add_to_json(as_json, keys))


def _describe_search(request: PageRequest, ignored_files: Iterable[str]) -> list[str]:
    """Return sentences for a printed page that say what was searched, when, and with which options."""
    options = [
        f"--{name.replace('_', '-')} {value}"
        for name in ("min_words", "preset", "ignore", "filter", "exclude")
        for value in request.all_values(name)
        if value and value != "edited"
    ]
    options += [f"--ignore {name}" for name in ignored_files]
    options += [
        f"--{name.replace('_', '-')}" for name in ("ignore_quotes", "ignore_bibliography") if request.is_on(name)
    ]
    options += ["--compare-all"] if request.is_on("all") else []
    documents = format_count(request.served_store.info().document_count, "document")
    searched = f"Searched {documents} on {datetime.now().astimezone().date()} with simdoc-search {__version__}."
    return [searched, f"Options: {', '.join(options)}."] if options else [searched]


def _render_view(name: str, result: PassageResult, search: SimilaritySearch) -> Markup | None:
    """Return the text with its sources. Return None if there are no hits, or if the text is not stored or too long."""
    characters_left = _MAX_SHOWN_CHARACTERS - len(result.text or "")
    if result.text is None or not result.hits or characters_left < 0:
        return None
    sources = []
    for hit in result.hits:
        record = read_records(search.store, [hit.key], load={"text"}).get(hit.key) if characters_left > 0 else None
        text = record.text if record else None
        characters_left -= len(text or "")
        shown_text = text if hit.kind == "exact" else None
        figures = hit.words_label, hit.share_label, hit.added_word_count
        sources.append(Source(hit.id, *figures, hit.passages, "", shown_text))
    return render_sources_view(
        SourcedText(
            name,
            result.headline(name),
            result.text,
            sources,
            result.spans,
            result.ignored_spans,
            quotations=result.quotations,
            analysis=search.store.settings.analysis,
        )
    )


def _longest_passages(hit: PassageHit, result: PassageResult, analysis: Analysis) -> list[tuple[Passage, str, str]]:
    """Return the longest passages of a hit, their word counts and excerpts, in the order of the query document."""
    longest = heapq.nlargest(_MAX_PASSAGES, hit.passages, key=lambda passage: passage.word_count)
    text = result.text or ""
    count_words = partial(count_passage_words, quotations=result.quotations, ignored_spans=result.ignored_spans)
    return [
        (passage, count_words(passage, text, analysis), quote_matched_words(passage, text))
        for passage in hit.passages
        if passage in longest
    ]
