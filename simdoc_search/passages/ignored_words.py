"""Finds the words of a text that are ignored, because they are in a template or a quotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import WordPositions
from simdoc_search.display import format_count
from simdoc_search.passages.align import PRESETS, AlignmentSettings, Preset, align_words
from simdoc_search.passages.bibliography import describe_bibliography, find_bibliography
from simdoc_search.passages.differences import remove_words_from_differences
from simdoc_search.passages.inline_diff import place_empty_spans
from simdoc_search.passages.passage import Comparison, Passage, Span
from simdoc_search.passages.quotations import find_quotations
from simdoc_search.passages.significant_changes import find_significant_changes
from simdoc_search.passages.typography import locate_unified_words
from simdoc_search.passages.word_spans import (
    Mask,
    count_words,
    mask_to_spans,
    mask_to_word_ranges,
    matched_mask,
    spans_to_mask,
    words_to_span,
)


def find_ignored_words(text: WordPositions, templates: Iterable[WordPositions], spans: Sequence[Span] = ()) -> Mask:
    """Mark the words of a text that are in `spans` or match a template. A match may contain small changes."""
    is_ignored = spans_to_mask(text, spans)
    for template in templates:
        is_ignored |= matched_mask(text, align_words(text, template, AlignmentSettings()))
    return is_ignored


def remove_words_from_text(text: str, words: WordPositions, is_ignored: Mask) -> str:
    """Return a text without its ignored words."""
    edges = [0, *(edge for span in mask_to_spans(words, is_ignored) for edge in span), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def remove_words_from_passages(
    passages: Iterable[Passage], a: WordPositions, b: WordPositions, is_ignored: Mask, min_words: int
) -> Iterator[Passage]:
    """Yield passages without the ignored words of the first text. Omit passages with fewer than `min_words` left."""
    for passage in passages:
        runs = tuple(_cut_runs(passage, a, b, is_ignored))
        spans_a, spans_b = [first for first, _ in runs], [second for _, second in runs]
        words = int(spans_to_mask(a, spans_a).sum())
        if runs and words >= min_words:
            yield replace(passage, a=_bounding_span(spans_a), b=_bounding_span(spans_b), word_count=words, runs=runs)


def _cut_runs(passage: Passage, a: WordPositions, b: WordPositions, is_ignored: Mask) -> Iterator[tuple[Span, Span]]:
    for (start, end), (other, _) in passage.runs:
        i, i_end = np.searchsorted(a.starts, (start, end)).tolist()
        j = int(np.searchsorted(b.starts, other))
        for first, last in mask_to_word_ranges(~is_ignored[i:i_end]):
            yield words_to_span(a, i + first, i + last), words_to_span(b, j + first, j + last)


def _bounding_span(spans: Sequence[Span]) -> Span:
    return min(start for start, _ in spans), max(end for _, end in spans)


def remove_ignored_words(
    comparison: Comparison,
    texts: tuple[str, str],
    templates: Sequence[str],
    analysis: Analysis | None,
    *,
    spans: tuple[Sequence[Span], Sequence[Span]] = ((), ()),
    min_words: int,
) -> tuple[Comparison, tuple[int, int]]:
    """Remove the words that match a template, or that are in the `spans` of their text, from a comparison.

    Return the changed comparison, and the number of ignored words of each text.

    The counts, passages and differences of the changed comparison exclude these words. A passage with fewer than
    `min_words` matched words left is omitted. The shingle measures still cover the whole texts.
    """
    a, b = (locate_unified_words(text, analysis) for text in texts)
    placed = [locate_unified_words(template, analysis) for template in templates]
    ignored_a, ignored_b = find_ignored_words(a, placed, spans[0]), find_ignored_words(b, placed, spans[1])
    passages = remove_words_from_passages(comparison.passages, a, b, ignored_a, min_words)
    swapped = remove_words_from_passages(map(_swap_texts, passages), b, a, ignored_b, min_words)
    kept = [_swap_texts(passage) for passage in swapped]
    kept = [replace(passage, word_count=int(matched_mask(a, [passage]).sum())) for passage in kept]
    ignored = int(ignored_a.sum()), int(ignored_b.sum())
    parts = remove_words_from_differences(comparison.differences, a, b, (ignored_a, ignored_b))
    differences = place_empty_spans(texts, (a, b), parts)
    character_differences = [
        difference
        for difference in comparison.character_differences
        if not (_has_only(ignored_a, a, difference.a) or _has_only(ignored_b, b, difference.b))
    ]
    row_differences = [
        difference
        for difference in comparison.row_differences
        if not (_has_only(ignored_a, a, difference.a) or _has_only(ignored_b, b, difference.b))
    ]
    changed = replace(
        comparison,
        passages=tuple(kept),
        differences=tuple(differences),
        character_differences=tuple(character_differences),
        row_differences=tuple(row_differences),
        significant_changes=tuple(find_significant_changes(*texts, differences, character_differences)),
        **count_words((a, b), kept, differences, (ignored_a, ignored_b)),
    )
    return changed, ignored


def _has_only(is_ignored: Mask, text: WordPositions, span: Span) -> bool:
    """Return whether all words in a span are ignored. In a span without words, the next word decides."""
    first = min(int(np.searchsorted(text.ends, span[0], side="right")), len(text.words) - 1)
    end = max(int(np.searchsorted(text.starts, span[1])), first + 1)
    return bool(is_ignored[first:end].all())


def _swap_texts(passage: Passage) -> Passage:
    return replace(passage, a=passage.b, b=passage.a, runs=tuple((second, first) for first, second in passage.runs))


def ignore_parts(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    analysis: Analysis | None,
    *,
    templates: Sequence[str] = (),
    quotations: bool = False,
    bibliography: bool = False,
    preset: Preset = "edited",
) -> tuple[Comparison, tuple[int, int] | None, list[str]]:
    """Remove the words of templates, quotations and bibliographies from a comparison; see `remove_ignored_words`.

    Return the changed comparison, the number of ignored words of each text, and sentences that say what is ignored.
    `names` are the names of the texts in these sentences. If nothing is to be ignored, the number is None.
    """
    if not (templates or quotations or bibliography):
        return comparison, None, []
    spans: tuple[list[Span], list[Span]] = ([], [])
    notes = []
    for name, text, text_spans in zip(names, texts, spans, strict=True):
        text_spans.extend(find_quotations(text) if quotations else ())
        if bibliography:
            found = find_bibliography(text)
            text_spans.extend([found] if found else ())
            notes.append(f"{name}: {describe_bibliography(text, found)}")
    min_words = PRESETS[preset].min_run_for(comparison.word_counts[0])
    changed, ignored = remove_ignored_words(comparison, texts, templates, analysis, spans=spans, min_words=min_words)
    words = format_count(ignored[0], "word")
    return changed, ignored, [f"{words} of the first text and {ignored[1]:,} of the second are ignored.", *notes]
