"""What do people read: how much is shared, and what differs?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from simdoc_search.display import counted, estimate, percent, printable
from simdoc_search.passages.passage import Comparison, Difference, KeyChange, SignDifference

_QUOTED = 12  # words that are quoted whole
_LAST = 3  # of more words
_KEPT = 120  # characters of the quotation
_SIGNS = 5  # differences of signs that are quoted
_NUMBER = re.compile(r"\W*\d")
_KEY_CHANGES = 5  # key changes that are listed
_DONE = {"replaced": "differ", "inserted": "inserted", "removed": "removed", "moved": "moved"}


def excerpt(text: str, most: int = _QUOTED) -> str:
    """A stretch of text in one line of at most some 120 characters: of more than `most` words the first and last."""
    words = text.split() if len(text) <= 4 * _KEPT else [*text[: 2 * _KEPT].split(), "…", *text[-_KEPT:].split()[1:]]
    shown = words if len(words) <= most else [*words[: most - _LAST], "…", *words[-_LAST:]]
    line = " ".join(shown)
    return line if len(line) <= _KEPT else f"{line[: 2 * _KEPT // 3]} … {line[-_KEPT // 6 :]}"


def difference_said(difference: Difference, text_a: str, text_b: str) -> str:
    """One difference: "3 words differ: 'may' → 'may not'"."""
    before, after = excerpt(text_a[slice(*difference.a)]), excerpt(text_b[slice(*difference.b)])
    verb = "differs" if difference.kind == "replaced" and difference.words == 1 else _DONE[difference.kind]
    quoted = {
        "replaced": f"'{before}' → '{after}'",
        "inserted": f"'{after}'",
        "removed": f"'{before}'",
        "moved": f"'{before}'",
    }[difference.kind]
    return f"{counted(difference.words, 'word')} {verb}: {quoted}"


def words_differing(comparison: Comparison) -> str:
    """All differences in a few words: "37 words differ in 9 places, 120 words moved"."""
    moved = sum(each.words for each in comparison.differences if each.kind == "moved")
    others = [each.words for each in comparison.differences if each.kind != "moved"]
    said = []
    if others:
        places = "" if len(others) == 1 else f" in {counted(len(others), 'place')}"
        said.append(f"{counted(sum(others), 'word')} {'differs' if sum(others) == 1 else 'differ'}{places}")
    if moved:
        said.append(f"{counted(moved, 'word')} moved")
    return ", ".join(said) or "no word differs"


def sign_said(difference: SignDifference, text_a: str, text_b: str) -> str:
    """One difference of signs: "'-500' / '500'"."""
    return f"'{excerpt(text_a[slice(*difference.a)])}' / '{excerpt(text_b[slice(*difference.b)])}'"


def signs_differing(found: Sequence[SignDifference], texts: tuple[str, str], most: int = _SIGNS) -> str:
    """The first differences of signs: "1 sign differs: '-500' / '500'"; empty if there are none."""
    count = len(found)
    if not count:
        return ""
    chosen = sorted(found, key=lambda each: _weight(each, *texts))[:most]
    said = "; ".join(sign_said(each, *texts) for each in chosen)
    more = f"; and {count - most:,} more" if count > most > 1 else ""
    return f"{counted(count, 'sign')} {'differs' if count == 1 else 'differ'}: {said}{more}"


def key_change_lines(changes: Sequence[KeyChange], most: int = _KEY_CHANGES) -> list[str]:
    """Key changes, a line each: "number: The rent is “850” → “890”"; the last line says how many more there are."""
    lines = [
        f"{each.kind}: {printable(f'{each.before} ') if each.before else ''}{_marked(each.old)} → {_marked(each.new)}"
        for each in changes[:most]
    ]
    more = len(changes) - most
    return [*lines, f"and {more:,} more such changes"] if more > 0 else lines


def _marked(text: str) -> str:
    return f"“{printable(text)}”" if text else "nothing"


def _weight(difference: SignDifference, text_a: str, text_b: str) -> tuple[bool, bool]:
    """Signs at numbers come first, then other signs, then how words are written."""
    quoted = text_a[slice(*difference.a)], text_b[slice(*difference.b)]
    return not any(map(_NUMBER.match, quoted)), difference.kind == "writing"


def contents(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The measures: their names, values, and what is to be added."""
    passages = len(comparison.passages)
    found = f"{counted(comparison.matched[0], 'word')} in {counted(passages, 'passage')}" if passages else "no passage"
    first, second = (
        (percent(share), f"{matched:,} of {counted(words, 'word')}")
        for share, matched, words in zip(comparison.covered, comparison.matched, comparison.words, strict=True)
    )
    return [
        ("in common", found, ""),
        ("share of the first text", *first),
        ("share of the second text", *second),
        ("different", words_differing(comparison), ""),
    ]


def details(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The measures of runs of words, as `contents` has its own; not the share of words that are matched."""
    low, high = comparison.interval
    interval = f"estimated {estimate(comparison.estimate)} ({100 * low:.0f} to {100 * high:.0f})"
    return [
        ("Jaccard similarity of shingles", percent(comparison.jaccard), interval),
        ("shingles of the first that the second has", percent(comparison.containment), ""),
        ("shingles of the second that the first has", percent(comparison.contained), ""),
    ]
