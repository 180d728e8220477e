"""Finds significant changes: differences in negations, numbers, dates and names.

Such a change can reverse the meaning of a contract.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, get_args

from simdoc_search.analysis.normalise import INVISIBLE_CHARACTERS, normaliser
from simdoc_search.passages.dates import Date, find_dates
from simdoc_search.passages.numbers import (
    NUMBER,
    SMALL_DIGITS,
    SPELLED_NUMBERS,
    UNSPACED_LETTERS,
    find_identifiers,
    is_in_word,
    normalise_number,
)
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
_SENTENCE_END = re.compile(rf"(?:^|[.!?:;\n\r•*]|\d\.)[\s\"'“”„»«()\[\]#>*{INVISIBLE_CHARACTERS}-]*$")
_LETTER = rf"[^\W\d_{SMALL_DIGITS}]"
_LETTERS = rf"{_LETTER}(?:{_LETTER}|[\u0300-\u036f\u00ad{INVISIBLE_CHARACTERS}])*"
_WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*")
_LETTER_AND_DIGIT = re.compile(rf"[^\W\d{UNSPACED_LETTERS}]\d")
"""Begins before a number inside a word, such as `v2`."""
_SPACES_AND_NUMBER = re.compile(rf"\s{{0,4}}{NUMBER.pattern}")
_normalise_word = normaliser("nfkc_cf")
_MAX_CONTEXT_CHARACTERS, _MAX_CONTEXT_WORDS = 40, 3
"""As context, up to 3 words from the 40 characters before a change are shown."""
_NUMBER_SEARCH_CHARACTERS = 24
"""The number of characters on each side of a difference that are searched for a number or a date."""
_MAX_CHANGED_WORDS = 100
"""The maximum number of words of a significant change. In a longer difference, a whole section was replaced."""
_MAX_MERGED_CHARACTERS = 200
"""The maximum length of touching differences that are merged. Without spaces, all differences of a text may touch."""
_EXCERPT_LENGTH = 60
"""The maximum number of characters of an excerpt."""
_SENTENCE_END_SEARCH_CHARACTERS = 8
"""The number of characters before a word that are searched for the end of a sentence."""


def find_significant_changes(
    old: str, new: str, differences: Sequence[Difference], character_differences: Sequence[CharacterDifference]
) -> list[SignificantChange]:
    """Return the significant changes among differences of up to 100 words: negations, then numbers, dates and names."""
    changed = (
        difference
        for difference in differences
        if difference.kind != "moved" and difference.word_count <= _MAX_CHANGED_WORDS
    )
    spans = [(difference.a, difference.b) for difference in changed]
    spans += [(difference.a, difference.b) for difference in character_differences]
    whole = (extend_both_to_numbers((old, new), (a, b)) for a, b in sorted(spans))
    changes = [change for a, b in _merge_touching_spans(whole) for change in _find_changes_of_kinds(old, new, a, b)]
    return sorted(changes, key=lambda change: _SIGNIFICANT_CHANGE_KINDS.index(change.kind))


def _find_changes_of_kinds(old: str, new: str, a: Span, b: Span) -> Iterator[SignificantChange]:
    """Yield the significant change of a short difference, or the changed key words of each kind of a long one."""
    (old_words, old_others), (new_words, new_others) = _find_key_words(old, a), _find_key_words(new, b)
    old_words["name"] = _without_case_changes(old_words["name"], new_others)
    new_words["name"] = _without_case_changes(new_words["name"], old_others)
    if _differ_in_capitals((old, new), (a, b)):
        old_words["number"], new_words["number"] = [], []
    kinds = [kind for kind in _SIGNIFICANT_CHANGE_KINDS if not _are_equal(old_words[kind], new_words[kind])]
    if not kinds:
        return
    parts = _normalise_spaces(old[slice(*a)]), _normalise_spaces(new[slice(*b)])
    if max(map(len, parts)) <= _EXCERPT_LENGTH:
        yield _make_change(kinds[0], (old, new), (a[0], b[0]), *parts)
        return
    for kind in kinds:
        starts = (words[kind][0].start if words[kind] else 0 for words in (old_words, new_words))
        yield _make_change(kind, (old, new), starts, _join_words(old_words[kind]), _join_words(new_words[kind]))


def _differ_in_capitals(texts: tuple[str, str], spans: tuple[Span, Span]) -> bool:
    """Return whether two parts differ only in letter case, because one of the texts is in capitals here.

    Elsewhere, the letter case of a unit matters, as in `5 mW` and `5 MW`.
    """
    parts, letters_around = [], []
    for text, (begin, end) in zip(texts, spans, strict=True):
        around = [_find_context(text, begin), *text[end : end + _MAX_CONTEXT_CHARACTERS].split()[:_MAX_CONTEXT_WORDS]]
        parts.append(_normalise_spaces(text[begin:end]).casefold())
        letters_around.append("".join(filter(str.isalpha, chain.from_iterable(around))))
    old, new = letters_around
    return parts[0] == parts[1] and old.isupper() != new.isupper() and old.casefold() == new.casefold()


def _make_change(
    kind: SignificantChangeKind, texts: tuple[str, str], starts: Iterable[int], old: str, new: str
) -> SignificantChange:
    before_old, before_new = map(_find_context, texts, starts)
    if not new:
        return SignificantChange(kind, before_old, old, new)
    has_other_words_before = bool(old) and before_old.split()[-1:] != before_new.split()[-1:]
    return SignificantChange(kind, before_new, old, new, before_old if has_other_words_before else "")


def _join_words(words: Sequence[_KeyWord]) -> str:
    """Return the first words as one line. If it is too long, it ends with `…`, after a whole word if possible."""
    line = " … ".join(word.text for word in words)
    if len(line) <= _EXCERPT_LENGTH:
        return line
    beginning = line[:_EXCERPT_LENGTH]
    return f"{beginning.rpartition(' … ')[0] or beginning} …"


def _find_context(text: str, position: int) -> str:
    """Return up to three words before a position. They are in the same sentence, unless the position begins one."""
    begin = max(0, position - _MAX_CONTEXT_CHARACTERS)
    words = text[begin:position].split()
    is_cut = begin > 0 and not any(map(str.isspace, text[begin - 1 : begin + 1]))
    words = words[is_cut and len(words) > 1 :][-_MAX_CONTEXT_WORDS:]  # without the first word if it is cut
    ends = [number for number, word in enumerate(words, 1) if _SENTENCE_END.search(word)]
    return " ".join(words[max((end for end in ends if end < len(words)), default=0) :])


def extend_both_to_numbers(texts: tuple[str, str], spans: tuple[Span, Span]) -> tuple[Span, Span]:
    """Extend a difference to whole numbers and dates in both texts.

    If the difference is in the sign or the unit of a number, the number is included in both texts. If words replace a
    number such as `½`, which is not a word, it is included.
    """
    a, b = (_extend_to_numbers(text, span) for text, span in zip(texts, spans, strict=True))
    after_a, after_b = (_small_number_after(text, span) for text, span in zip(texts, (a, b), strict=True))
    if after_a.strip() != after_b.strip():
        return (a[0], a[1] + len(after_a)), (b[0], b[1] + len(after_b))
    if a[0] < spans[0][0] and b[0] == spans[1][0]:
        b = _extend_to_number_before(texts[1], b)
    elif b[0] < spans[1][0] and a[0] == spans[0][0]:
        a = _extend_to_number_before(texts[0], a)
    if a[1] > spans[0][1] and b[1] == spans[1][1]:
        b = _extend_to_number_after(texts[1], b)
    elif b[1] > spans[1][1] and a[1] == spans[0][1]:
        a = _extend_to_number_after(texts[0], a)
    return a, b


def _small_number_after(text: str, span: Span) -> str:
    """Return the number after a span with the spaces before it, if its digits are not a word. Else return ""."""
    match = _SPACES_AND_NUMBER.match(text, span[1])
    return match[0] if match and not any(map(str.isdecimal, match[0])) else ""


def _extend_to_number_before(text: str, span: Span) -> Span:
    for match in NUMBER.finditer(text, max(0, span[0] - _NUMBER_SEARCH_CHARACTERS), span[0]):
        if not text[match.end() : span[0]].strip() and not _LETTER_AND_DIGIT.match(text, match.start() - 1):
            return match.start(), span[1]
    return span


def _extend_to_number_after(text: str, span: Span) -> Span:
    match = _SPACES_AND_NUMBER.match(text, span[1])
    return (span[0], match.end()) if match else span


def _extend_to_numbers(text: str, span: Span) -> Span:
    """Extend a part of a text to whole numbers with their signs and symbols, and to whole dates."""
    numbers = (match.span() for match in _find_numbers(text, span))
    dates = (place for _, place in _find_dates(text, span))
    found = [part for part in (*numbers, *dates) if _overlap(part, span)]
    return min([span[0], *(first for first, _ in found)]), max([span[1], *(last for _, last in found)])


def _merge_touching_spans(spans: Iterable[tuple[Span, Span]]) -> Iterator[tuple[Span, Span]]:
    """Merge differences that overlap or touch in one of the texts, such as those in one date."""
    merged: tuple[Span, Span] | None = None
    for a, b in spans:
        if merged and (_are_touching(merged[0], a) or _are_touching(merged[1], b)):
            joined = _join(merged[0], a), _join(merged[1], b)
            if max(last - first for first, last in joined) <= _MAX_MERGED_CHARACTERS:
                merged = joined
                continue
        if merged:
            yield merged
        merged = a, b
    if merged:
        yield merged


def _join(span: Span, other: Span) -> Span:
    return min(span[0], other[0]), max(span[1], other[1])


def _are_touching(span: Span, later_span: Span) -> bool:
    """Return whether two spans overlap or touch. Two empty spans do not: ignored words may be between them."""
    return later_span[0] <= span[1] and (span[0] < span[1] or later_span[0] < later_span[1])


class _KeyWord(NamedTuple):
    """A negation, a number, a whole date or a name, and where it begins."""

    text: str
    start: int
    key: str  # the text for comparisons, which does not depend on how it is spelled


def _are_equal(words: Sequence[_KeyWord], others: Sequence[_KeyWord]) -> bool:
    return [word.key for word in words] == [word.key for word in others]


def _without_case_changes(names: Iterable[_KeyWord], others: Iterable[str]) -> list[_KeyWord]:
    """Return the names that the other text does not have in lower case, or at the beginning of a sentence."""
    counts = Counter(others)
    kept = []
    for name in names:
        if counts[name.key]:
            counts[name.key] -= 1
        else:
            kept.append(name)
    return kept


def _find_key_words(text: str, span: Span) -> tuple[dict[SignificantChangeKind, list[_KeyWord]], list[str]]:
    """Return the negations, numbers, dates and names in a part of a text, and the keys of its other words.

    An identifier, such as `V2`, may be a name. Its digits are not a number.
    """
    words: dict[SignificantChangeKind, list[_KeyWord]] = {kind: [] for kind in _SIGNIFICANT_CHANGE_KINDS}
    others: list[str] = []
    dates: list[Span] = []
    for date, place in _find_dates(text, span):
        if _overlap(place, span):
            words["date"].append(_KeyWord(_normalise_spaces(text[slice(*place)]), place[0], str(date)))
            dates.append(place)
    identifiers = [place for place in find_identifiers(text, span) if not _overlap_any(place, dates)]
    for match in _find_numbers(text, span):
        place = match.span()
        if _overlap(place, span) and not (_overlap_any(place, dates) or is_in_word(text, place[0], identifiers)):
            words["number"].append(_KeyWord(match[0], place[0], normalise_number(match[0])))
    parts = (match.span() for match in _WORD.finditer(text, *span))
    for begin, end in sorted([*identifiers, *(part for part in parts if not _overlap_any(part, identifiers))]):
        word = text[begin:end]
        key = _normalise_word(word.replace("’", "'"))
        if key in _NEGATION_WORDS or key.endswith("n't"):
            words["negation"].append(_KeyWord(key, begin, key))
        elif key in SPELLED_NUMBERS and not _overlap_any((begin, end), dates):
            is_whole_part = text[slice(*span)].strip() == word
            words["number"].append(_KeyWord(word, begin, SPELLED_NUMBERS[key] if is_whole_part else key))
        elif (
            word[0].isupper()
            and not _overlap_any((begin, end), dates)
            and not _SENTENCE_END.search(text[max(0, begin - _SENTENCE_END_SEARCH_CHARACTERS) : begin])
        ):
            words["name"].append(_KeyWord(word, begin, key))
        else:
            others.append(key)
    words["number"].sort(key=lambda number: number.start)
    return words, others


def _overlap_any(span: Span, others: Iterable[Span]) -> bool:
    return any(_overlap(span, other) for other in others)


def _overlap(span: Span, other: Span) -> bool:
    return span[0] < other[1] and other[0] < span[1]


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())


def _find_numbers(text: str, span: Span) -> Iterator[re.Match[str]]:
    """Yield the numbers in and near a part of a text. A number before it does not begin inside a word, such as `v2`."""
    begin = max(0, span[0] - _NUMBER_SEARCH_CHARACTERS)
    for match in NUMBER.finditer(text, begin, span[1] + _NUMBER_SEARCH_CHARACTERS):
        if match.start() >= span[0] or not _LETTER_AND_DIGIT.match(text, match.start() - 1):
            yield match


def _find_dates(text: str, span: Span) -> list[tuple[Date, Span]]:
    """Return the dates in and near a part of a text, in order. A year alone does not count as a date."""
    begin = max(0, span[0] - _NUMBER_SEARCH_CHARACTERS)
    around = text[begin : span[1] + _NUMBER_SEARCH_CHARACTERS]
    dates = [(date, (first + begin, last + begin)) for date, (first, last) in find_dates(around) if len(date) > 1]
    return sorted(dates, key=lambda dated: dated[1])
