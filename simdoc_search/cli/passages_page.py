"""The page of `simdoc-search passages --html`: each text beside the documents that share passages with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import document_progress
from simdoc_search.cli.html_page import describe_run, write_page_file
from simdoc_search.display import format_count, format_more_hits_hint, format_percent, without_credentials

if TYPE_CHECKING:
    import click

    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.cli.passages_output import PassageAnswer
    from simdoc_search.documents import DocumentKey, SkippedFile
    from simdoc_search.passages.report import SourcedText
    from simdoc_search.search.passage_result import PassageHit
    from simdoc_search.stores.base import Store

_MAX_TOTAL_CHARACTERS = 8_000_000
"""Maximum number of characters on the page, so that a browser remains fast. Further texts are not shown."""


_FILTER_PARAMETERS = ("filters", "excluded", "exclude_same_folder")
_COMPARISON_PARAMETERS = ("min_words", "preset", "compare_all", "ignore", "ignore_quotes", "ignore_bibliography")
"""The parameters of the command that decide which documents are searched, and which words count."""


def describe_search(
    places: Sequence[str], document_count: int, skipped: Sequence[SkippedFile], context: click.Context
) -> list[str]:
    """Return sentences that say what was searched, when, and with which options.

    `document_count` is the number of documents in the `places`; 0 if it is not known.
    """
    from simdoc_search.indexing.skipped_files import describe_skipped_files

    is_filtered = any(context.params[name] for name in _FILTER_PARAMETERS)
    documents = f"{format_count(document_count, 'document')} in " if document_count and not is_filtered else ""
    searched = f"Searched {documents}{', '.join(map(without_credentials, places))}"
    lines = describe_run(searched, context, (*_FILTER_PARAMETERS, *_COMPARISON_PARAMETERS))
    note = describe_skipped_files(skipped)
    return [lines[0], *([f"{note.summary}: {note.names}."] if skipped else []), *lines[1:]]


def describe_hit(hit: PassageHit) -> str:
    """Return a note about a hit, or an empty string."""
    if hit.kind == "estimated":
        return "estimated, because the index does not have the texts of both documents"
    return "the document has changed since it was indexed; the figures are for the current text" if hit.changed else ""


def write_page(
    path: Path, answers: Sequence[PassageAnswer], notes: Sequence[str], store: Store, *, hide_progress: bool
) -> None:
    """Write the page, and show the progress on stderr unless `hide_progress`."""
    from simdoc_search.passages.report import render_sources_page

    ranked = sorted(answers, key=lambda answer: -answer.result.coverage.share)
    remaining = _MAX_TOTAL_CHARACTERS
    sourced_texts, omitted = [], 0
    with document_progress(hidden=hide_progress or len(ranked) < 2, has_total=True) as update:
        update(total=len(ranked))
        for answer in ranked:
            remaining -= len(answer.result.text or "")
            keys = [hit.key for hit in answer.result.hits if hit.kind == "exact"]
            texts = _read_texts_up_to(remaining, keys, store)
            remaining -= sum(map(len, texts.values()))
            omitted += sum(key not in texts for key in keys)
            sourced_texts.append(_sourced_text(answer, texts, store.settings.analysis))
            update(advance=1)
    sources_are = format_count(omitted, "source is", "sources are")
    note = f"{sources_are} not shown side by side with the text. To see both texts, use `simdoc-search compare`."
    write_page_file(path, render_sources_page(sourced_texts, [*notes, note] if omitted else notes))


def _read_texts_up_to(remaining_characters: int, keys: Sequence[DocumentKey], store: Store) -> dict[DocumentKey, str]:
    """Return the texts of the first documents, until they have at least this many characters."""
    from simdoc_search.search.stored_texts import read_texts, split_into_batches

    texts: dict[DocumentKey, str] = {}
    for batch in split_into_batches(keys):
        read = read_texts(store, batch)
        for key in batch:
            if remaining_characters <= 0:
                return texts
            if key in read:
                texts[key] = read[key]
                remaining_characters -= len(read[key])
    return texts


def _sourced_text(answer: PassageAnswer, texts: dict[DocumentKey, str], analysis: Analysis) -> SourcedText:
    from simdoc_search.passages.report import Source, SourcedText

    result = answer.result
    sources = [
        Source(
            hit.id,
            hit.words_label,
            hit.share_label,
            hit.added_word_count,
            hit.passages,
            describe_hit(hit),
            texts.get(hit.key),
        )
        for hit in result.hits
    ]
    figures = (
        format_percent(result.coverage.share, 0),
        format_count(result.coverage.word_count, "word"),
        format_count(result.total, "match", "matches"),
    )
    notes = result.notes
    if result.total:
        notes.append(f"{result.page_description}.{format_more_hits_hint(len(result.hits), result.total)}")
    return SourcedText(
        answer.name,
        answer.headline,
        result.text,
        sources,
        result.spans,
        result.ignored_spans,
        figures,
        notes,
        analysis,
        result.quotations,
    )
