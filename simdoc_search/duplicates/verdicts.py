"""The kind of each duplicate, and what a plan proposes for it.

This is the only place that decides it. The terminal, JSON, the page, the browser and the plan show these verdicts.

| Kind | What it means | Proposed |
|---|---|---|
| `identical` | equal bytes; without a file: equal text and metadata | drop |
| `hard link` | another name of a file of the group | decide; drop if that other name is dropped |
| `same text` | equal text, other bytes | decide |
| `same words` | equal words in the same order; other letter case, punctuation or spaces | decide |
| `near` | at least the chosen overlap | decide |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import placed_words
from simdoc_search.corpus.member_names import archive_of
from simdoc_search.duplicates.collection import Documents
from simdoc_search.duplicates.contents import Contents
from simdoc_search.duplicates.plan.files import freed
from simdoc_search.duplicates.plan.rows import IN_ARCHIVE, Action
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.report.summary import signs_differing
from simdoc_search.passages.signs import signs

Kind = Literal["identical", "hard link", "same text", "same words", "near"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Widened = Literal["same-text", "same-words"]
"""What a plan may drop besides identical documents. `same-words` includes `same-text`."""

DROP: tuple[Widened, ...] = get_args(Widened)

_DROPPED: Mapping[Widened | None, tuple[Kind, ...]] = {
    None: ("identical",),
    "same-text": ("identical", "same text"),
    "same-words": ("identical", "same text", "same words"),
}


def check_drop(drop: Widened | None) -> None:
    """Raise `QuerySyntaxError` if a plan cannot be widened to this."""
    if drop not in _DROPPED:
        raise QuerySyntaxError(f"drop is one of {', '.join(DROP)}, not {drop!r:.60}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind of a duplicate, and what a plan proposes for it.

    Attributes:
        kind: what it has in common with the kept document.
        action: what a plan proposes.
        kept_for_it: the number of the document that is kept instead.
        link_of: the number of the document of which its file is a hard link; None: of none.
        problem: why nothing is proposed though its kind would be dropped, or why its bytes were not compared.
    """

    kind: Kind
    action: Action
    kept_for_it: int
    link_of: int | None = None
    problem: str = ""


class Verdicts:
    """The verdicts on all duplicates.

    Args:
        documents: all documents.
        groups: the kept document of each group, and the others in the order in which they would be kept.
        contents: which contents are equal.
        drop: what is dropped besides identical documents.

    Attributes:
        kinds: how many documents there are of each kind.
        drops: how many documents a plan would drop.
        frees: bytes freed by deleting all of these.
    """

    def __init__(
        self, documents: Documents, groups: Mapping[int, list[int]], contents: Contents, drop: Widened | None = None
    ) -> None:
        self._documents, self._contents, self._dropped = documents, contents, _DROPPED[drop]
        self._of: dict[int, Verdict] = {}
        for kept, others in groups.items():
            self._judge(kept, others)
        self.kinds: Counter[Kind] = Counter(each.kind for each in self._of.values())
        dropped = [number for number, each in self._of.items() if each.action == "drop"]
        self.drops: int = len(dropped)
        self._frees = freed({each: contents.files[each] for each in dropped if each in contents.files})
        self.frees: int = sum(self._frees.values())

    def of(self, number: int) -> Verdict:
        """The verdict of a document."""
        return self._of[number]

    def frees_of(self, number: int) -> int:
        """Bytes freed by deleting this document with everything that the plan drops. Hard links count once."""
        return self._frees.get(number, 0)

    def has_other_links(self, number: int) -> bool:
        """Whether the file has other hard links, so that deleting it may free nothing."""
        file = self._contents.files.get(number)
        return file is not None and file.links > 1

    def kind_of(self, a: int, b: int) -> Kind:
        """The kind of a pair that overlaps enough."""
        contents, documents = self._contents, self._documents
        one, two = contents.files.get(a), contents.files.get(b)
        if one and two and one.inode == two.inode:
            return "hard link"
        if contents.classes[a] == contents.classes[b]:
            return "identical"
        if documents.texts[a] == documents.texts[b]:
            return "same text"
        return "same words" if documents.words[a] == documents.words[b] else "near"

    def _judge(self, kept: int, others: list[int]) -> None:
        contents = self._contents
        first_of_class = {int(contents.classes[kept]): kept}
        first_of_inode = {file.inode: kept} if (file := contents.files.get(kept)) else {}
        for each in others:
            file = contents.files.get(each)
            link_of = first_of_inode.setdefault(file.inode, each) if file else each
            first = first_of_class.setdefault(int(contents.classes[each]), each)
            if link_of != each:
                self._of[each] = self._link(each, link_of)
                continue
            canonical = kept if first == each else self._kept_for(first)
            kind = self.kind_of(canonical, each)
            problem = self._problem(each) or self._problem(canonical)
            action: Action = "drop" if kind in self._dropped and not problem else "decide"
            self._of[each] = Verdict(kind, action, canonical, problem=problem)

    def _link(self, number: int, link_of: int) -> Verdict:
        """The verdict on another name of a file. It is dropped together with the first name."""
        other, file = self._of.get(link_of), self._contents.files[number]
        if other and other.action == "drop" and file.links > 1:
            return Verdict("hard link", "drop", other.kept_for_it, link_of)
        return Verdict("hard link", "decide", link_of, link_of)

    def _kept_for(self, number: int) -> int:
        """The document itself if it is kept, otherwise the one that is kept instead."""
        found = self._of.get(number)
        return found.kept_for_it if found and found.action == "drop" else number

    def _problem(self, number: int) -> str:
        path = self._documents.path(number)
        in_archive = path is not None and self._documents.sizes[number] < 0 and archive_of(path)
        return IN_ARCHIVE if in_archive else self._contents.problems.get(number, "")


def reason_for(verdict: Verdict, *, overlap: str, signs: str, name: str, has_file: bool, frees: bool) -> str:
    """Why a plan proposes what it does, in a few words.

    Args:
        verdict: of the document.
        overlap: with the kept document, as shown.
        signs: what `describe_signs` says of two texts with the same words.
        name: the id of the document that is kept instead, or of the hard link; empty: the kept one of the group.
        has_file: whether the document was read from a file.
        frees: whether applying the plan frees its bytes.
    """
    match verdict.kind:
        case "identical":
            nothing = "" if frees else "; frees nothing, as other hard links of it remain"
            said = f"identical{f' to {name}' if name else ''}{nothing if verdict.action == 'drop' else ''}"
        case "hard link":
            return f"hard link of {name}; frees nothing"
        case "same text":
            different = "file (pictures or layout may differ)" if has_file else "metadata"
            said = "same text" if verdict.problem else f"same text, different {different}"
        case "same words":
            said = f"same words; {signs}"
        case "near":
            said = f"overlap {overlap}"
    return f"{said}; {verdict.problem}" if verdict.problem else said


def describe_signs(a: str, b: str, analysis: Analysis) -> str:
    """How many signs differ, and one of them: `2 signs differ: '-500' / '500'`."""
    words_a, words_b = placed_words(a, analysis), placed_words(b, analysis)
    runs = [(0, 0, len(words_a.words))] if words_a.words == words_b.words else []
    if found := signs(a, b, words_a, words_b, runs):
        return signs_differing(found, (a, b), 1)
    return "only spaces and line ends differ" if a.split() == b.split() else "signs before or after all words differ"
