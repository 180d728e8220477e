"""Describes the results of a comparison in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import WordPositions
from simdoc_search.display import format_count, format_estimate, format_percent, printable
from simdoc_search.passages.cells import write_cells
from simdoc_search.passages.character_differences import has_only_other_apostrophes
from simdoc_search.passages.disguise import describe_disguised_words, find_disguised_words, locate_shown_words
from simdoc_search.passages.passage import (
    CharacterDifference,
    Comparison,
    Difference,
    Passage,
    SignificantChange,
    Span,
)
from simdoc_search.passages.significant_changes import extend_both_to_numbers
from simdoc_search.passages.subsequences import heaviest_increasing_subsequence
from simdoc_search.passages.unsplit_text import UNSPLIT_PASSAGES_NOTE, has_unsplit_words
from simdoc_search.passages.word_spans import spans_to_mask

_MAX_EXCERPT_WORDS, _END_WORDS, _MAX_EXCERPT_CHARACTERS = 12, 3, 120
_MAX_CHARACTER_DIFFERENCES, _MAX_SIGNIFICANT_CHANGES = 5, 5
_NUMBER = re.compile(r"\W*\d")


def excerpt(text: str, max_words: int = _MAX_EXCERPT_WORDS) -> str:
    """Return a text as one line of at most about 120 characters: the whole text, or its first and last words."""
    if len(text) <= 4 * _MAX_EXCERPT_CHARACTERS:
        words = text.split()
    else:
        first, last = text[: 2 * _MAX_EXCERPT_CHARACTERS].split(), text[-_MAX_EXCERPT_CHARACTERS:].split()
        words = [*(first[:-1] or first), "…", *(last[1:] or last)]
    shown = words if len(words) <= max_words else [*words[: max_words - _END_WORDS], "…", *words[-_END_WORDS:]]
    line = " ".join(shown)
    if len(line) <= _MAX_EXCERPT_CHARACTERS:
        return line
    begin, end = line[: 2 * _MAX_EXCERPT_CHARACTERS // 3], line[-_MAX_EXCERPT_CHARACTERS // 6 :]
    begin, end = begin.rpartition(" ")[0] or begin, end.partition(" ")[2] or end  # whole words, if there are spaces
    return f"{begin.rstrip(' …')} … {end.lstrip('… ')}"


def quote_matched_words(passage: Passage, text: str) -> str:
    """Return the first and last matched words of a passage in the first text. `[…]` replaces words between them."""
    quote, position = "", passage.a[0]
    for (start, end), _ in passage.runs:
        between = text[position:start]
        quote += (" […] " if any(map(str.isalnum, between)) else between) + text[max(position, start) : end]
        position = max(position, end)
    return excerpt(quote)


def count_passage_words(
    passage: Passage,
    text: str,
    analysis: Analysis | None = None,
    *,
    quotations: Sequence[Span] = (),
    ignored_spans: Sequence[Span] = (),
) -> str:
    """Return the number of matched words: "12 words", or "17 of 39 words match" if the passage has others.

    Ignored words do not count as others. The numbers of words that were moved, that are in `quotations`, and that are
    ignored follow: "12 words, 2 moved, 10 quoted, 30 ignored".
    """
    begin = passage.a[0]
    words = locate_shown_words(text[slice(*passage.a)], analysis)
    matched, quoted, ignored = (
        spans_to_mask(words, [(start - begin, end - begin) for start, end in spans])
        for spans in ([run[0] for run in passage.runs], quotations, ignored_spans)
    )
    ignored_count = int((ignored & ~matched).sum())
    other_count = len(words.words) - ignored_count
    counts = [format_count(passage.word_count, "word")]
    if other_count > passage.word_count:
        counts = [f"{passage.word_count:,} of {format_count(other_count, 'word')} match"]
    if moved_count := passage.word_count - _count_unmoved_words(passage, words):
        counts.append(f"{moved_count:,} moved")
    if quoted_count := int((matched & quoted).sum()):
        counts.append("all quoted" if quoted_count >= passage.word_count else f"{quoted_count:,} quoted")
    if ignored_count:
        counts.append(f"{ignored_count:,} ignored")
    return ", ".join(counts)


def _count_unmoved_words(passage: Passage, words: WordPositions) -> int:
    """Count the matched words that are in the same order in both texts. `words` are those of the first text."""
    starts = np.searchsorted(words.starts, [span[0] - passage.a[0] for span, _ in passage.runs]).tolist()
    ends = np.searchsorted(words.starts, [span[1] - passage.a[0] for span, _ in passage.runs]).tolist()
    runs = [(i, span[0], end - i) for i, end, (_, span) in zip(starts, ends, passage.runs, strict=True)]
    return sum(size for _, _, size in heaviest_increasing_subsequence(runs))


def describe_difference(difference: Difference, text_a: str, text_b: str) -> str:
    """Describe one difference: "1 word replaced by 2: “may” → “may not”"."""
    before, after = (f"“{excerpt(text)}”" for text in (text_a[slice(*difference.a)], text_b[slice(*difference.b)]))
    quote = {"replaced": f"{before} → {after}", "inserted": after}.get(difference.kind, before)
    return f"{describe_changed_words(difference)}: {quote}"


def describe_changed_words(difference: Difference) -> str:
    """Describe how many words one difference changes: "1 word replaced by 2", "3 words moved"."""
    removed, added = difference.removed_word_count, difference.added_word_count
    if difference.kind == "replaced" and removed != added:
        return f"{format_count(removed, 'word')} replaced by {added:,}"
    return f"{format_count(difference.word_count, 'word')} {difference.kind}"


def format_word_changes(added_count: int, removed_count: int) -> str:
    """Format how many words were added and removed. A replaced word counts as both: "+5 −3 words"."""
    return f"+{added_count:,} −{removed_count:,} words"


def describe_word_changes(differences: Sequence[Difference]) -> str:
    """Describe how many words some differences add and remove: "+5 −3 words". Moved words do not count."""
    changes = [difference for difference in differences if difference.kind != "moved"]
    return format_word_changes(
        sum(change.added_word_count for change in changes), sum(change.removed_word_count for change in changes)
    )


def describe_differences(comparison: Comparison) -> str:
    """Describe all differences: "+37 −30 words in 9 places, 120 words moved"."""
    moved = sum(difference.word_count for difference in comparison.differences if difference.kind == "moved")
    place_count = sum(difference.kind != "moved" for difference in comparison.differences)
    parts = []
    if place_count:
        parts.append(f"{describe_word_changes(comparison.differences)} in {format_count(place_count, 'place')}")
    if moved:
        parts.append(f"{format_count(moved, 'word')} moved")
    return ", ".join(parts) or "no words differ"


def describe_character_difference(difference: CharacterDifference, text_a: str, text_b: str) -> str:
    """Describe one difference in characters: "“-500” / “500”"."""
    quoted = _quote_whole_numbers(difference, (text_a, text_b))
    return " / ".join(f"“{excerpt(text)}”" for text in quoted)


def _quote_whole_numbers(difference: CharacterDifference, texts: tuple[str, str]) -> list[str]:
    spans = extend_both_to_numbers(texts, (difference.a, difference.b))
    return [text[slice(*span)] for text, span in zip(texts, spans, strict=True)]


def describe_character_differences(
    differences: Sequence[CharacterDifference], texts: tuple[str, str], max_count: int = _MAX_CHARACTER_DIFFERENCES
) -> str:
    """Describe the number of differences in characters, and up to `max_count` of them: numbers first, apostrophes last.

    For example: "letter case, punctuation or symbols differ in 1 place: “-500” / “500”". Without differences, the
    result is empty.
    """
    if not differences:
        return ""

    def rank(difference: CharacterDifference) -> tuple[bool, bool, bool]:
        has_number = any(map(_NUMBER.match, _quote_whole_numbers(difference, texts)))
        return has_only_other_apostrophes(difference, texts), not has_number, difference.kind == "letters"

    first = sorted(differences, key=rank)[:max_count]
    quoted = "; ".join(describe_character_difference(difference, *texts) for difference in first)
    more = f"; and {len(differences) - max_count:,} more" if len(differences) > max_count > 1 else ""
    return f"{describe_character_difference_count(len(differences))}: {quoted}{more}"


def describe_character_difference_count(count: int) -> str:
    """Describe the number of differences in characters: "letter case, punctuation or symbols differ in 2 places"."""
    return f"letter case, punctuation or symbols differ in {format_count(count, 'place')}"


def describe_form_difference(a: str, b: str) -> str:
    """Say that only spaces, line breaks or the Unicode form of letters differ; empty if nothing or more differs.

    Tabs are named if both texts have some: in a table, they show in which column a number is.
    """
    composed_a, composed_b = normalize("NFC", a), normalize("NFC", b)
    if a == b or _drop_spaces(composed_a) != _drop_spaces(composed_b):
        return ""
    if composed_a == composed_b:
        return "only the Unicode form of letters differs"
    form = "" if _drop_spaces(a) == _drop_spaces(b) else "the Unicode form of letters, "
    if "\t" in a and "\t" in b and write_cells(composed_a).replace(" ", "") != write_cells(composed_b).replace(" ", ""):
        return f"only {form}spaces, line breaks and tabs (as between cells of a table) differ"
    return f"only {form}spaces and line breaks differ"


def _drop_spaces(text: str) -> str:
    return "".join(text.split())


def describe_significant_changes(
    changes: Sequence[SignificantChange], max_count: int = _MAX_SIGNIFICANT_CHANGES
) -> list[str]:
    """Return one line per significant change: "number: The rent is “850” → “890”" or "negation: may “not” (added)".

    The words before the quoted ones are those of the same text: "number: pays “850” → owes “890”".

    If there are more than `max_count` changes, the last line contains the number of omitted changes.
    """
    lines = [f"{change.kind}: {_describe_change(change)}" for change in changes[:max_count]]
    more = len(changes) - max_count
    return [*lines, f"and {format_count(more, 'more significant change')}"] if more > 0 else lines


def _format_context(words: str) -> str:
    """Return the words before a change, without a final colon: the kind of the change already ends with a colon."""
    return printable(f"{words.rstrip(':')} ") if words.rstrip(":") else ""


def _describe_change(change: SignificantChange) -> str:
    before, before_old = map(_format_context, (change.preceding_words, change.old_preceding_words))
    old, new = f"“{printable(change.old)}”", f"“{printable(change.new)}”"
    if change.old and change.new:
        return f"{before_old}{old} → {before}{new}" if before_old else f"{before}{old} → {new}"
    return f"{before}{new} (added)" if change.new else f"{before}{old} (removed)"


def describe_problem_words(comparison: Comparison, texts: tuple[str, str], names: tuple[str, str]) -> list[str]:
    """Return warnings about words that are disguised or not split. They are empty if no words of the texts differ."""
    if not comparison.differences:
        return []
    disguised = [
        (name, describe_disguised_words(find_disguised_words(text))) for name, text in zip(names, texts, strict=True)
    ]
    unsplit = [UNSPLIT_PASSAGES_NOTE] if any(map(has_unsplit_words, texts)) else []
    advice = "They may differ from the words that they look like. A search for passages reads them as those words."
    return [*(f"{name}: {note} {advice}" for name, note in disguised if note), *unsplit]


class MeasureRow(NamedTuple):
    """A measure for display: its name, its value and a remark."""

    name: str
    value: str
    remark: str = ""


def describe_word_measures(comparison: Comparison) -> list[MeasureRow]:
    """Return the measures of matched words for display."""
    passages = len(comparison.passages)
    in_passages = f"{format_count(comparison.matched_word_counts[0], 'word')} in {format_count(passages, 'passage')}"
    first, second = (
        (format_percent(share), f"{matched:,} of {format_count(words, 'word')}")
        for share, matched, words in zip(
            comparison.covered_shares, comparison.matched_word_counts, comparison.word_counts, strict=True
        )
    )
    return [
        MeasureRow("in common", in_passages if passages else "no passages"),
        MeasureRow("share of the first text", *first),
        MeasureRow("share of the second text", *second),
        MeasureRow("different", describe_differences(comparison)),
        *_describe_other_words(comparison),
    ]


def _describe_other_words(comparison: Comparison) -> Iterator[MeasureRow]:
    """Yield the words that are counted as neither common nor different, and those that are counted as both."""
    if any(comparison.equal_unmatched_word_counts):
        counts = _format_counts_of_both(comparison.equal_unmatched_word_counts)
        yield MeasureRow("equal, not matched", counts, "which may be equal by chance")
    if any(comparison.matched_different_word_counts):
        counts = _format_counts_of_both(comparison.matched_different_word_counts)
        yield MeasureRow("in common and different", counts, "which are repeated")


def _format_counts_of_both(counts: tuple[int, int]) -> str:
    """Format a number of words of each text: "3 words of each text" or "3 words of the first text, 2 of the second"."""
    first, second = counts
    if first == second:
        return f"{format_count(first, 'word')} of each text"
    if not first:
        return f"{format_count(second, 'word')} of the second text"
    words = f"{format_count(first, 'word')} of the first text"
    return f"{words}, {second:,} of the second" if second else words


def describe_shingle_measures(comparison: Comparison) -> list[MeasureRow]:
    """Return the measures of shingles for display."""
    low, high = comparison.interval
    interval = f"estimated {format_estimate(comparison.estimate)} ({100 * low:.0f} to {100 * high:.0f})"
    return [
        MeasureRow("Jaccard similarity of shingles", format_percent(comparison.jaccard), interval),
        MeasureRow("shingles of the first text in the second", format_percent(comparison.containment)),
        MeasureRow("shingles of the second text in the first", format_percent(comparison.reverse_containment)),
    ]
