"""Finds key changes: differences in negations, numbers, dates and names, which can change the meaning of a contract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from simdoc_search.passages.dates import dates_in
from simdoc_search.passages.passage import CharacterDifference, Difference, KeyChange, KeyKind, Span

_KINDS: tuple[KeyKind, ...] = get_args(KeyKind)
_NEGATIONS = """\
    not no never none nobody nothing neither nor without cannot
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder
    ne pas jamais aucun aucune sans rien
    nunca jamás ningún ninguno ninguna sin tampoco
    non senza nessun nessuno nessuna"""
_NEGATION_WORDS = frozenset(_NEGATIONS.split())
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[-−+]?[\d]+(?:[.,:/]\d+)*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\r•*]|\d\.)[\s\"'“”„»«()\[\]#>*-]*$")
_BEFORE_CHARACTERS, _BEFORE_WORDS = 40, 3
"""For context, up to 3 words within the 40 characters before a change are shown."""
_DATE_CHARACTERS = 24
"""The number of characters on each side of a difference that are searched for a date."""
_MAX_CHARACTERS = 60
"""The maximum number of characters of an excerpt."""
_SENTENCE_CHARACTERS = 8
"""The number of characters before a word that are searched for the end of a sentence."""


def key_changes(
    old: str, new: str, differences: Sequence[Difference], character_differences: Sequence[CharacterDifference]
) -> list[KeyChange]:
    """Return the key changes among the differences: negations first, then numbers, dates and names."""
    spans = [(difference.a, difference.b) for difference in differences if difference.kind != "moved"]
    spans += [(difference.a, difference.b) for difference in character_differences]
    changes = [change for a, b in sorted(spans) if (change := _key_change(old, new, a, b))]
    return sorted(changes, key=lambda change: _KINDS.index(change.kind))


def _key_change(old: str, new: str, a: Span, b: Span) -> KeyChange | None:
    old_words, new_words = _key_words(old, a), _key_words(new, b)
    kind = next((kind for kind in _KINDS if old_words[kind] != new_words[kind]), None)
    if kind is None:
        return None
    before = " ".join(new[max(0, b[0] - _BEFORE_CHARACTERS) : b[0]].split()[-_BEFORE_WORDS:])
    return KeyChange(kind, before, _excerpt(old, a, kind), _excerpt(new, b, kind))


def _excerpt(text: str, span: Span, kind: KeyKind) -> str:
    """Return the text of a change. A date is not cut. A long text is reduced to its key words."""
    if kind == "date" and span[0] < span[1]:
        dates = [date for date in _date_spans(text, span) if date[0] < span[1] and span[0] < date[1]]
        span = min([span[0], *(begin for begin, _ in dates)]), max([span[1], *(end for _, end in dates)])
    whole = " ".join(text[slice(*span)].split())
    return whole if len(whole) <= _MAX_CHARACTERS else " … ".join(_key_words(text, span)[kind])[:_MAX_CHARACTERS]


def _key_words(text: str, span: Span) -> dict[KeyKind, list[str]]:
    """Return the negations, numbers, dates and names in a part of a text."""
    words: dict[KeyKind, list[str]] = {kind: [] for kind in _KINDS}
    dates = _date_spans(text, span)
    for match in _TOKEN.finditer(text, *span):
        word, (begin, end) = match[0], match.span()
        lower = word.casefold()
        if lower in _NEGATION_WORDS or lower.endswith(("n't", "n’t")):
            words["negation"].append(lower)
        elif any(first < end and begin < last for first, last in dates):
            words["date"].append(lower)
        elif any(map(str.isdigit, word)):
            words["number"].append(word)
        elif word[0].isupper() and not _SENTENCE_END.search(text[max(0, begin - _SENTENCE_CHARACTERS) : begin]):
            words["name"].append(word)
    return words


def _date_spans(text: str, span: Span) -> list[Span]:
    """Return the spans of the dates in and around a part of a text. A year alone does not count as a date."""
    begin = max(0, span[0] - _DATE_CHARACTERS)
    around = text[begin : span[1] + _DATE_CHARACTERS]
    return [(first + begin, last + begin) for date, (first, last) in dates_in(around) if len(date) > 1]
