"""Finds significant changes: differences in negations, numbers, dates and names.

Such a change can reverse the meaning of a contract.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from simdoc_search.passages.dates import find_dates
from simdoc_search.passages.passage import (
    CharacterDifference,
    Difference,
    SignificantChange,
    SignificantChangeKind,
    Span,
)

_SIGNIFICANT_CHANGE_KINDS: tuple[SignificantChangeKind, ...] = get_args(SignificantChangeKind)
_NEGATIONS = """\
    not no never none nobody nothing neither nor without cannot
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder
    ne pas jamais aucun aucune sans rien
    nunca jamás ningún ninguno ninguna sin tampoco
    non senza nessun nessuno nessuna"""
_NEGATION_WORDS = frozenset(_NEGATIONS.split())
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[-−+]?[\d]+(?:[.,:/]\d+)*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\r•*]|\d\.)[\s\"'“”„»«()\[\]#>*-]*$")
_MAX_CONTEXT_CHARACTERS, _MAX_CONTEXT_WORDS = 40, 3
"""As context, up to 3 words from the 40 characters before a change are shown."""
_DATE_SEARCH_CHARACTERS = 24
"""The number of characters on each side of a difference that are searched for a date."""
_MAX_WORDS = 100
"""The maximum number of words of a significant change. In a longer difference, a whole section was replaced."""
_EXCERPT_LENGTH = 60
"""The maximum number of characters of an excerpt."""
_SENTENCE_END_CHARACTERS = 8
"""The number of characters before a word that are searched for the end of a sentence."""


def find_significant_changes(
    old: str, new: str, differences: Sequence[Difference], character_differences: Sequence[CharacterDifference]
) -> list[SignificantChange]:
    """Return the significant changes among differences of up to 100 words: negations, then numbers, dates and names."""
    changed = (
        difference for difference in differences if difference.kind != "moved" and difference.word_count <= _MAX_WORDS
    )
    spans = [(difference.a, difference.b) for difference in changed]
    spans += [(difference.a, difference.b) for difference in character_differences]
    changes = [change for a, b in sorted(spans) if (change := _find_significant_change(old, new, a, b))]
    return sorted(changes, key=lambda change: _SIGNIFICANT_CHANGE_KINDS.index(change.kind))


def _find_significant_change(old: str, new: str, a: Span, b: Span) -> SignificantChange | None:
    old_words, new_words = _find_key_words(old, a), _find_key_words(new, b)
    kind = next((kind for kind in _SIGNIFICANT_CHANGE_KINDS if old_words[kind] != new_words[kind]), None)
    if kind is None:
        return None
    if kind == "date":
        a, b = _extend_to_dates(old, a), _extend_to_dates(new, b)
    before = " ".join(new[max(0, b[0] - _MAX_CONTEXT_CHARACTERS) : b[0]].split()[-_MAX_CONTEXT_WORDS:])
    return SignificantChange(kind, before, _make_excerpt(old, a, kind), _make_excerpt(new, b, kind))


def _extend_to_dates(text: str, span: Span) -> Span:
    """Extend a part of a text to whole dates. An empty part is not extended."""
    dates = [date for date in _find_date_spans(text, span) if date[0] < span[1] and span[0] < date[1]]
    if span[0] == span[1] or not dates:
        return span
    return min(span[0], *(begin for begin, _ in dates)), max(span[1], *(end for _, end in dates))


def _make_excerpt(text: str, span: Span, kind: SignificantChangeKind) -> str:
    """Return the text of a change. A long text is reduced to its key words."""
    whole = " ".join(text[slice(*span)].split())
    return whole if len(whole) <= _EXCERPT_LENGTH else " … ".join(_find_key_words(text, span)[kind])[:_EXCERPT_LENGTH]


def _find_key_words(text: str, span: Span) -> dict[SignificantChangeKind, list[str]]:
    """Return the negations, numbers, dates and names in a part of a text."""
    words: dict[SignificantChangeKind, list[str]] = {kind: [] for kind in _SIGNIFICANT_CHANGE_KINDS}
    dates = _find_date_spans(text, span)
    for match in _TOKEN.finditer(text, *span):
        word, (begin, end) = match[0], match.span()
        lower = word.casefold()
        if lower in _NEGATION_WORDS or lower.endswith(("n't", "n’t")):
            words["negation"].append(lower)
        elif any(first < end and begin < last for first, last in dates):
            words["date"].append(lower)
        elif any(map(str.isdigit, word)):
            words["number"].append(word)
        elif word[0].isupper() and not _SENTENCE_END.search(text[max(0, begin - _SENTENCE_END_CHARACTERS) : begin]):
            words["name"].append(word)
    return words


def _find_date_spans(text: str, span: Span) -> list[Span]:
    """Return the spans of the dates in and near a part of a text. A year alone does not count as a date."""
    begin = max(0, span[0] - _DATE_SEARCH_CHARACTERS)
    around = text[begin : span[1] + _DATE_SEARCH_CHARACTERS]
    return [(first + begin, last + begin) for date, (first, last) in find_dates(around) if len(date) > 1]
