"""What does it mean that a file was skipped: does it matter, is its text gone, and what would help?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from simdoc_search.documents import Skipped


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of reason.

    Attributes:
        label: what it is called, after a count; empty: as the reason itself.
        pattern: the reasons of this kind, as a regular expression; a group is a detail that differs from file to file.
        expected: the file was never meant to be read, so that leaving it out is no fault.
        text_gone: the file is there, but the text that it may have had is not.
        advice: the option that would help.
    """

    label: str
    pattern: str
    expected: bool = False
    text_gone: bool = False
    advice: str = ""


OTHER = Kind("", ".*")
"""What could not be read just now, or not by this installation: permissions, a failing disk, a reader that crashed."""

BROKEN_LINK = "broken link"
"""To a file that is gone, or to a folder on a disk that is away."""

KINDS = (
    Kind("damaged", r"damaged: (.*)", text_gone=True),
    Kind("encrypted", "encrypted", text_gone=True),
    Kind(
        "over the size limit",
        r"(?:(\S+ (?:bytes|characters)) are|grew|the line is) over the limit of .*",
        text_gone=True,
        advice="--max-size MB takes larger ones",
    ),
    Kind("archives of which the rest is left out", r"(all together unpack .*|the rest of more than .*)"),
    Kind("", "took longer than .*", advice="--file-timeout SECONDS waits longer"),
    Kind("", "needed more memory .*", advice="--worker-memory MB gives more"),
    OTHER,
    Kind("", rf"{BROKEN_LINK}|vanished before it was read|the name .*|the id .*"),
    Kind("a duplicate of another document", "((?:the same (?:text|words) as|overlaps) .*)"),
    Kind("its id is that of another file", r"(a file of .*) has this id"),
    Kind("", r"an archive in .*", text_gone=True),
    Kind("", r"no text.*|no words", text_gone=True),
    Kind("", r"format .* is not supported", text_gone=True),
    Kind("", r"a table; name the file itself.*", text_gone=True),
    Kind("", r"not a file .*", expected=True, text_gone=True),
    Kind("binary", "binary", expected=True, text_gone=True),
    Kind("an image", "an image", expected=True, text_gone=True),
    Kind("", r"an archive or a mailbox; .*", expected=True, text_gone=True),
    Kind("", r"a link .*|a store of simdoc-search", expected=True),
    Kind("excluded", "excluded", expected=True),
    Kind("hidden", "hidden", expected=True),
)
"""Those that matter most first."""


def kind_of(reason: str) -> tuple[Kind, str]:
    """The kind of a reason, and what differs from file to file in it; an unknown reason is of the kind `OTHER`."""
    for kind in KINDS:
        if kind is not OTHER and (found := re.fullmatch(kind.pattern, reason, re.DOTALL)):
            return kind, found[1] or "" if found.re.groups else ""
    return OTHER, ""


def matters(skipped: Skipped) -> bool:
    """Whether something is missing that was meant to be read."""
    return not kind_of(skipped.reason)[0].expected


@dataclass(slots=True)
class Group:
    """What was skipped for one reason.

    Attributes:
        label: the reason.
        advice: the option that would help, if one would.
        examples: all paths, each with what is its own of the reason.
    """

    label: str
    advice: str
    examples: list[str] = field(default_factory=list)


def by_reason(skipped: Iterable[Skipped]) -> list[Group]:
    """What was skipped, one group a reason: those that matter most first, then those with most files."""
    groups: dict[tuple[int, str], Group] = {}
    for each in skipped:
        kind, detail = kind_of(each.reason)
        label = kind.label or each.reason
        group = groups.setdefault((KINDS.index(kind), label), Group(label, kind.advice))
        group.examples.append(f"{each.path} ({detail})" if detail else each.path)
    return [group for _, group in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1].examples)))]
