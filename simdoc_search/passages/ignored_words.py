"""Which words of a text are not counted: those of templates and task sheets, and those in quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.passages.align import Alignment, align_words
from simdoc_search.passages.matched_words import matched_words, words_in
from simdoc_search.passages.passage import Comparison, Passage, Span

_INSIDE = r"(?:(?!\n[^\S\n]*\n)[^{0}]){{1,5000}}"  # a quotation does not contain a blank line
_PAIRS = (
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("«", "»"),
    ("»", "«"),
    ("‹", "›"),
    ("『", "』"),
    ("「", "」"),
    ('"', '"'),
)
_QUOTATIONS = re.compile("|".join(f"{begin}{_INSIDE.format(begin + end)}{end}" for begin, end in _PAIRS))
_BLOCK_QUOTES = re.compile(r"^[^\S\n]{0,3}>.*$", re.MULTILINE)


def quotations(text: str) -> list[Span]:
    """Where a text has quotations: in quotation marks, and in lines that begin with `>` as in Markdown."""
    return [found.span() for pattern in (_QUOTATIONS, _BLOCK_QUOTES) for found in pattern.finditer(text)]


def ignored_words(text: PlacedWords, templates: Iterable[PlacedWords], spans: Sequence[Span] = ()) -> NDArray[np.bool_]:
    """Which words of a text are matched in one of some templates, also slightly edited, or lie in some spans.

    Returns:
        bool, shape (words,).
    """
    ignored = words_in(text, spans)
    for template in templates:
        ignored |= matched_words(text, align_words(text, template, Alignment()))
    return ignored


def left_text(text: str, words: PlacedWords, ignored: NDArray[np.bool_]) -> str:
    """A text without its ignored words."""
    edges = [0, *(edge for span in spans_of(words, ignored) for edge in span), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def without_words(
    passages: Iterable[Passage], a: PlacedWords, b: PlacedWords, ignored: NDArray[np.bool_], least: int
) -> Iterator[Passage]:
    """Passages without the ignored words of the first text; those that keep at least `least` matched words."""
    for passage in passages:
        runs = [run for each in passage.runs for run in _kept(each, a, b, ignored)]
        spans = tuple((_span(a, i, size), _span(b, j, size)) for i, j, size in runs)
        if runs == [] or (words := int(words_in(a, [first for first, _ in spans]).sum())) < least:
            continue
        first, second = ((min(each)[0], max(each, key=lambda span: span[1])[1]) for each in zip(*spans, strict=True))
        yield replace(passage, a=first, b=second, words=words, runs=spans)


def _kept(
    run: tuple[Span, Span], a: PlacedWords, b: PlacedWords, ignored: NDArray[np.bool_]
) -> Iterator[tuple[int, int, int]]:
    """The parts of an equal run that are not ignored: first word in either text, number of words."""
    (start, end), (other, _) = run
    i, after, j = (int(at) for at in (*np.searchsorted(a.starts, (start, end)), np.searchsorted(b.starts, other)))
    edges = np.flatnonzero(np.diff(np.concatenate(([1], ignored[i:after], [1])).astype(np.int8)))
    for begin, stop in edges.reshape(-1, 2).tolist():
        yield i + begin, j + begin, stop - begin


def without_templates(
    comparison: Comparison, texts: tuple[str, str], templates: Sequence[str], analysis: Analysis | None, least: int
) -> tuple[Comparison, tuple[int, int]]:
    """A comparison without the words that either text has from some templates.

    Args:
        comparison: what the texts share.
        texts: the two texts.
        templates: the texts whose words are ignored.
        analysis: what a word is.
        least: matched words that a passage must keep.

    Returns:
        The comparison, and how many words of each text are ignored. `words` and `matched` do not count these; the
        shingle measures and the differences are still those of the whole texts.
    """
    a, b = (placed_words(text, analysis) for text in texts)
    placed = [placed_words(each, analysis) for each in templates]
    ignored_a, ignored_b = (ignored_words(each, placed) for each in (a, b))
    passages = without_words(comparison.passages, a, b, ignored_a, least)
    turned = without_words(map(_turned, passages), b, a, ignored_b, least)
    kept = [_turned(each) for each in turned]
    kept = [replace(each, words=int(matched_words(a, [each]).sum())) for each in kept]
    words = int((~ignored_a).sum()), int((~ignored_b).sum())
    matched = int(matched_words(a, kept).sum()), int(matched_words(b, kept, second=True).sum())
    left = int(ignored_a.sum()), int(ignored_b.sum())
    return replace(comparison, passages=tuple(kept), words=words, matched=matched), left


def _turned(passage: Passage) -> Passage:
    """The same passage with the second text first."""
    return replace(passage, a=passage.b, b=passage.a, runs=tuple((second, first) for first, second in passage.runs))


def spans_of(text: PlacedWords, chosen: NDArray[np.bool_]) -> list[Span]:
    """Where the chosen words of a text stand; words that follow each other are one span."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], chosen, [0])).astype(np.int8))).reshape(-1, 2)
    return [_span(text, first, end - first) for first, end in edges.tolist()]


def _span(text: PlacedWords, first: int, size: int) -> Span:
    return int(text.starts[first]), int(text.ends[first + size - 1])
