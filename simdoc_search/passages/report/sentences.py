"""What do people read: how much is shared, and what differs?"""

from __future__ import annotations

from simdoc_search.passages.passage import Comparison, Difference
from simdoc_search.showing import counted, estimate, percent

__all__ = ["contents", "difference_said", "estimated", "excerpt", "words_differing"]

_QUOTED = 12  # words that are quoted whole
_LAST = 3  # of more words
_KEPT = 120  # characters of the quotation
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


def estimated(comparison: Comparison) -> str:
    """The estimate with its interval: "~93 % (91 to 95)"."""
    low, high = comparison.interval
    return f"{estimate(comparison.estimate)} ({100 * low:.0f} to {100 * high:.0f})"


def contents(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The measures: their names, values, and what is to be added."""
    passages, shared = len(comparison.passages), sum(each.words for each in comparison.passages)
    found = f"{counted(shared, 'word')} in {counted(passages, 'passage')}" if passages else "no passage"
    return [
        ("overlap", percent(comparison.jaccard), f"estimated {estimated(comparison)}"),
        ("the first in the second", percent(comparison.containment), ""),
        ("the second in the first", percent(comparison.contained), ""),
        ("in common", found, ""),
        ("different", words_differing(comparison), ""),
    ]
