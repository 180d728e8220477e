"""Which numbers, dates, names and negations differ between two texts? One such word can matter more than a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from simdoc_search.passages.dates import dates_in
from simdoc_search.passages.passage import Difference, KeyChange, KeyKind, SignDifference, Span

_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "without",
        "cannot",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keinem",
        "keiner",
        "keines",
        "nie",
        "niemals",
        "niemand",
        "nichts",
        "ohne",
        "weder",
        "ne",
        "pas",
        "jamais",
        "aucun",
        "aucune",
        "sans",
        "rien",
        "nunca",
        "jamás",
        "ningún",
        "ninguno",
        "ninguna",
        "sin",
        "tampoco",
        "non",
        "senza",
        "nessun",
        "nessuno",
        "nessuna",
    ]
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[-−+]?[\d]+(?:[.,:/]\d+)*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\r•*]|\d\.)[\s\"'“”„»«()\[\]#>*-]*$")
_BEFORE, _AROUND, _LONGEST = 40, 24, 60
_WORDS_BEFORE = 3


def key_changes(old: str, new: str, found: Sequence[Difference], signs: Sequence[SignDifference]) -> list[KeyChange]:
    """The differences that change one of these: negations first, then numbers, dates and names, each as in the text.

    Args:
        old: the older text.
        new: the newer one.
        found: the words that differ.
        signs: the signs that differ.
    """
    spans = [(each.a, each.b) for each in found if each.kind != "moved"] + [(each.a, each.b) for each in signs]
    changes = [change for a, b in sorted(spans) if (change := _change(old, new, a, b))]
    return sorted(changes, key=lambda each: get_args(KeyKind).index(each.kind))


def _change(old: str, new: str, a: Span, b: Span) -> KeyChange | None:
    kinds = [kind for kind, keys in _keys(old, a).items() if keys != _keys(new, b)[kind]]
    kinds += [kind for kind, keys in _keys(new, b).items() if keys and kind not in kinds and not _keys(old, a)[kind]]
    if not kinds:
        return None
    kind = min(kinds, key=get_args(KeyKind).index)
    before = " ".join(new[max(0, b[0] - _BEFORE) : b[0]].split()[-_WORDS_BEFORE:])
    return KeyChange(kind, before, *(_shown(text, span, kind) for text, span in ((old, a), (new, b))))


def _shown(text: str, span: Span, kind: KeyKind) -> str:
    """What a text has there: a date whole, other text if it is short, else what is of that kind."""
    if kind == "date" and span[0] < span[1]:
        days = [day for day in _days(text, span) if day[0] < span[1] and span[0] < day[1]]
        span = min([span[0], *(begin for begin, _ in days)]), max([span[1], *(end for _, end in days)])
    whole = " ".join(text[span[0] : span[1]].split())
    return whole if len(whole) <= _LONGEST else " … ".join(_keys(text, span)[kind])[:_LONGEST]


def _keys(text: str, span: Span) -> dict[KeyKind, list[str]]:
    """The negations, numbers, dates and names in a part of a text."""
    keys: dict[KeyKind, list[str]] = {kind: [] for kind in get_args(KeyKind)}
    days = _days(text, span)
    for found in _TOKEN.finditer(text, *span):
        word = found[0]
        lower = word.casefold()
        if lower in _NEGATIONS or lower.endswith(("n't", "n’t")):
            keys["negation"].append(lower)
        elif any(first < found.end() and found.start() < last for first, last in days):
            keys["date"].append(lower)
        elif any(map(str.isdigit, word)):
            keys["number"].append(word)
        elif word[0].isupper() and not _SENTENCE_END.search(text[max(0, found.start() - 8) : found.start()]):
            keys["name"].append(word)
    return keys


def _days(text: str, span: Span) -> list[Span]:
    """The dates in and around a part of a text."""
    begin = max(0, span[0] - _AROUND)
    around = text[begin : span[1] + _AROUND]
    return [(first + begin, last + begin) for date, (first, last) in dates_in(around) if len(date) > 1]
