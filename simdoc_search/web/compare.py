"""The page that shows two texts side by side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from simdoc_search.as_json.comparison import comparison_as_json
from simdoc_search.corpus.formats import describe_uncompared_content, determine_format
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.compare import compare as compare_texts
from simdoc_search.passages.ignored_words import ignore_parts
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report import render_pair_view
from simdoc_search.passages.summary import describe_problem_words, describe_word_measures
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import MAX_COMPARED_CHARACTERS
from simdoc_search.web.request_query import (
    count_characters_for_limit,
    find_document_key,
    read_ignored_texts,
    read_request_query,
    read_stored_record,
    read_stored_text,
)
from simdoc_search.web.response import Page

_MAX_SHOWN_CHARACTERS = 2_000_000
"""The maximum total number of characters of two texts that a browser shows side by side without delay."""


def compare(request: PageRequest) -> Page:
    """Return the comparison of the documents `a` and `b`, or of a text and the document `b`.

    With `at`, a position in the first text, the page opens at the passage that contains it. With `group`, the number of
    a group of copies, it has a link back to this group. `start` and `limit` are those of the page of copies.
    """
    search = request.served_store.search()
    second = find_document_key(request, search, "b")
    if request.has_text:
        query = read_request_query(request)
        first, name, text, query_json = None, query.name or "your text", query.text or "", {"file": query.file}
    else:
        first = find_document_key(request, search, "a")
        name, text, query_json = _name(first), read_stored_text(search, first), {"id": first.id}
    texts, names = (text, read_stored_text(search, second)), (name, _name(second))
    length = sum(count_characters_for_limit(text, request) for text in texts)
    if length > MAX_COMPARED_CHARACTERS:
        raise QuerySyntaxError(
            f"the two texts together have {length:,} characters after Unicode normalisation, more than the limit of "
            f"{MAX_COMPARED_CHARACTERS:,}; run `simdoc-search compare` instead"
        )
    settings = search.store.settings
    comparison = compare_texts(*texts, preset=request.preset, settings=settings)
    comparison, ignored, notes = ignore_parts(
        comparison,
        texts,
        names,
        settings.analysis,
        templates=read_ignored_texts(request, search).all,
        quotations=request.is_on("ignore_quotes"),
        bibliography=request.is_on("ignore_bibliography"),
        preset=request.preset,
    )
    notes += describe_problem_words(comparison, texts, names)
    if not comparison.differences:
        notes += describe_uncompared_content(*names)
    is_side_by_side = length <= _MAX_SHOWN_CHARACTERS and not request.wants_json
    position = request.integer("at", 0, 0, 10**9)
    values: dict[str, Any] = {
        "names": names,
        "texts": texts,
        "keys": (first, second),
        "measures": describe_word_measures(comparison),
        "copies": {name: str(request.integer(name, 0, 0, 10**9)) for name in ("start", "limit", "group")}
        if request.value("group")
        else {},
        "open_passage": _find_passage(comparison, position) if request.value("at") else None,
        "comparison_notes": [*notes, *_describe_attachments(search, [key for key in (first, second) if key])],
        "render_pair": partial(render_pair_view, comparison, texts, names, analysis=settings.analysis)
        if is_side_by_side
        else None,
    }
    as_json = comparison_as_json(comparison, (query_json, {"id": second.id}), notes=notes)
    return Page("compare.html", values, as_json | ({"ignored": [*ignored]} if ignored else {}))


def _find_passage(comparison: Comparison, position: int) -> int | None:
    """Return the number (from 1) of the passage that contains a position of the first text, or None."""
    return next(
        (number for number, passage in enumerate(comparison.passages, 1) if passage.a[0] <= position < passage.a[1]),
        None,
    )


def _describe_attachments(search: SimilaritySearch, keys: list[DocumentKey]) -> Iterator[str]:
    """For each e-mail with attachments, yield a sentence that names them."""
    for record in (read_stored_record(search, key) for key in keys if determine_format(key.id).is_mail):
        names = record.metadata.get("attachments")
        if isinstance(names, list) and names:
            yield f"The attachments of {record.id} were not compared: {', '.join(map(str, names))}."


def _name(key: DocumentKey) -> str:
    return key.id if key.index is None else f"{key.id} in {key.index}"
