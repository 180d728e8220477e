"""What is a document of a group to the one that is kept, and what does a plan propose for it?

This is the one place that decides it. The terminal, JSON, the page, the browser and the plan show what is said here.

| Kind | What it means | Proposed |
|---|---|---|
| `identical` | equal bytes; without a file: equal text and metadata | drop |
| `hard link` | another name of a file of the group | decide; drop if that other name is dropped |
| `same text` | equal text, other bytes | decide |
| `same words` | equal words in the same order; other letter case, punctuation or spaces | decide |
| `near` | the overlap that was asked for | decide |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.duplicates.collection import Documents
from simdoc_search.duplicates.contents import Contents
from simdoc_search.duplicates.plan.files import freed
from simdoc_search.duplicates.plan.rows import IN_ARCHIVE, Action
from simdoc_search.errors import QuerySyntaxError

Kind = Literal["identical", "hard link", "same text", "same words", "near"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Widened = Literal["same-text", "same-words"]
"""What a person lets a plan drop besides identical documents; `same-words` includes `same-text`."""

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
class Judgement:
    """What a document is to the one that stays for it.

    Attributes:
        kind: what they have in common.
        action: what a plan proposes.
        kept_for_it: the number of the document that stays for it.
        link_of: the number of the document of which its file is a hard link; None: of none.
        problem: why nothing is proposed though its kind would be dropped, or why its bytes were not compared.
    """

    kind: Kind
    action: Action
    kept_for_it: int
    link_of: int | None = None
    problem: str = ""


class Judgements:
    """The judgements of all documents that are not kept.

    Args:
        documents: all documents.
        groups: the kept document of each group, and the others in the order in which they would be kept.
        contents: what is known of their contents.
        drop: what is dropped besides identical documents.

    Attributes:
        kinds: how many documents there are of each kind.
        drops: how many documents a plan would drop.
        frees: bytes that are free when all of these are deleted.
    """

    def __init__(
        self, documents: Documents, groups: Mapping[int, list[int]], contents: Contents, drop: Widened | None = None
    ) -> None:
        self._documents, self._contents, self._dropped = documents, contents, _DROPPED[drop]
        self._of: dict[int, Judgement] = {}
        for kept, others in groups.items():
            self._judge(kept, others)
        self.kinds: Counter[Kind] = Counter(each.kind for each in self._of.values())
        dropped = [number for number, each in self._of.items() if each.action == "drop"]
        self.drops: int = len(dropped)
        self._frees = freed({each: contents.files[each] for each in dropped if each in contents.files})
        self.frees: int = sum(self._frees.values())

    def of(self, number: int) -> Judgement:
        """The judgement of a document."""
        return self._of[number]

    def frees_of(self, number: int) -> int:
        """Bytes that are free when a plan is applied and this document is deleted; hard links count once."""
        return self._frees.get(number, 0)

    def has_other_links(self, number: int) -> bool:
        """Whether the file of a document has hard links, so that its bytes may not be free when it is deleted."""
        file = self._contents.files.get(number)
        return file is not None and file.links > 1

    def kind_of(self, a: int, b: int) -> Kind:
        """What two documents have in common that overlap enough."""
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
            stays = kept if first == each else self._stays_for(first)
            kind = self.kind_of(stays, each)
            problem = self._problem(each) or self._problem(stays)
            action: Action = "drop" if kind in self._dropped and not problem else "decide"
            self._of[each] = Judgement(kind, action, stays, problem=problem)

    def _link(self, number: int, link_of: int) -> Judgement:
        """The judgement of a further name of a file; it is dropped together with the first name."""
        other, file = self._of.get(link_of), self._contents.files[number]
        if other and other.action == "drop" and file.links > 1:
            return Judgement("hard link", "drop", other.kept_for_it, link_of)
        return Judgement("hard link", "decide", link_of, link_of)

    def _stays_for(self, number: int) -> int:
        """The document itself if it stays, else the one that stays for it."""
        found = self._of.get(number)
        return found.kept_for_it if found and found.action == "drop" else number

    def _problem(self, number: int) -> str:
        path = self._documents.path(number)
        in_archive = path is not None and self._documents.sizes[number] < 0 and archive_of(path)
        return IN_ARCHIVE if in_archive else self._contents.problems.get(number, "")


def reason_for(judgement: Judgement, *, overlap: str, signs: str, name: str, has_file: bool, frees: bool) -> str:
    """Why a plan proposes what it does, in a few words.

    Args:
        judgement: of the document.
        overlap: with the kept document, as shown.
        signs: what `signs_said` says of two texts with the same words.
        name: the id of the document that stays, or of which this one is a hard link; empty: the kept one of the group.
        has_file: whether the document was read from a file.
        frees: whether its bytes are free when the plan is applied.
    """
    match judgement.kind:
        case "identical":
            nothing = "" if frees else "; frees nothing, as other hard links of it remain"
            said = f"identical{f' to {name}' if name else ''}{nothing if judgement.action == 'drop' else ''}"
        case "hard link":
            return f"hard link of {name}; frees nothing"
        case "same text":
            different = "file (pictures or layout may differ)" if has_file else "metadata"
            said = "same text" if judgement.problem else f"same text, different {different}"
        case "same words":
            said = f"same words; {signs}"
        case "near":
            said = f"overlap {overlap}"
    return f"{said}; {judgement.problem}" if judgement.problem else said
