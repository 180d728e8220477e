"""Classifies the reasons why files were skipped.

Each kind of reason states whether skipping was expected, whether the stored text of the file is now out of date, and
which option would help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from simdoc_search.corpus.file_reader import ARCHIVE_REASON
from simdoc_search.corpus.links import LINK_OUT_REASON
from simdoc_search.documents import SkippedFile
from simdoc_search.installation import install_command


@dataclass(frozen=True, slots=True)
class SkipKind:
    """A kind of reason for skipping files."""

    label: str  # shown after the number of files; if empty, the reason itself is shown
    pattern: str  # regular expression that matches the reasons; its group is a detail that differs between files
    is_expected: bool = False  # whether skipping was expected, because such files are never read
    is_text_outdated: bool = False  # whether a text that was stored for the file before is now out of date
    advice: str = ""  # the option that would help; empty if there is none
    may_be_indexed: bool = False  # whether an earlier run may have indexed such files, because it had other options
    is_id_taken: bool = False  # whether the id of the file belongs to another document

    @property
    def may_have_text(self) -> bool:
        """Whether such a file may have a text, such as a scan. Hidden and excluded files and links count as others."""
        return self.is_text_outdated or not self.is_expected

    @property
    def can_compare_bytes(self) -> bool:
        """Whether such files may be compared byte by byte, to find exact duplicates."""
        return not self.is_id_taken and self.may_have_text


OTHER_KIND = SkipKind("", ".*")
"""All other reasons, such as no permission, a failing disk, or a reader that crashed. The file could perhaps be read
later or on another machine."""

BROKEN_LINK_REASON = "broken link"
"""The reason for a link to a file that does not exist, or to a folder on a disk that is not mounted."""

NO_FILES_REASON = "has no files"
"""The reason for an indexed path that no longer exists or is empty, in a run that removes its documents."""

SKIP_KINDS = (
    SkipKind("damaged", r"damaged: (.*)", is_text_outdated=True),
    SkipKind("encrypted", "encrypted", is_text_outdated=True),
    SkipKind(
        "over the size limit",
        r"(?:(\S+ (?:bytes|characters)) are|grew|the line is) over the limit of .*",
        is_text_outdated=True,
        advice="allow larger files with --max-size MB",
    ),
    SkipKind("not read to the end", r"(the members unpack to .*|there are more than .* members)"),
    SkipKind(
        "without the packages to read them",
        r"the format (\S+) needs optional packages; .*",
        advice=f"install the packages with: {install_command('documents')}",
    ),
    SkipKind("", "took longer than .*", advice="wait longer with --file-timeout SECONDS"),
    SkipKind("", "needed more memory .*", advice="allow more memory with --worker-memory MB"),
    OTHER_KIND,
    SkipKind(
        "with an id that is too long",
        r"the id .*… is (.* bytes) long; .*",
        advice="name a subfolder, because an id is the path below the named folder",
    ),
    SkipKind("", rf"{BROKEN_LINK_REASON}|vanished before it was read|the name .*|the id .*"),
    SkipKind("rejected as duplicates", "((?:the same (?:text|words) as|overlaps) .*)"),
    SkipKind("with the id of another file", r"(a file in .*) already has this id", is_id_taken=True),
    SkipKind(
        "",
        r"nested in .* archives|no text.*|no words|format .* is not supported|a table; .*",
        is_text_outdated=True,
    ),
    SkipKind(
        "",
        r".*not (?:to )?a regular file|reading the file would block .*",
        is_expected=True,
        is_text_outdated=True,
    ),
    SkipKind(
        "",
        ARCHIVE_REASON,
        is_expected=True,
        is_text_outdated=True,
        advice="read such files with --archives",
    ),
    SkipKind(
        "",
        "binary|an image|(?:an HTML page|a plan) that simdoc-search wrote",
        is_expected=True,
        is_text_outdated=True,
    ),
    SkipKind(
        "", LINK_OUT_REASON, is_expected=True, may_be_indexed=True, advice="follow such links with --follow-links"
    ),
    SkipKind("", r"a link .*|an index of simdoc-search", is_expected=True, may_be_indexed=True),
    SkipKind("without files", NO_FILES_REASON, is_expected=True),
    SkipKind("", "excluded", is_expected=True, may_be_indexed=True),
    SkipKind("", "hidden|a lock file of Microsoft Office", is_expected=True),
)
"""All kinds, by descending importance."""


_PLURALS = {
    ARCHIVE_REASON: "archives or mailboxes",
    "an image": "images",
    "an HTML page that simdoc-search wrote": "HTML pages that simdoc-search wrote",
    "a plan that simdoc-search wrote": "plans that simdoc-search wrote",
    "an index of simdoc-search": "indexes of simdoc-search",
    "a lock file of Microsoft Office": "lock files of Microsoft Office",
    "a link to a folder that was already read": "links to folders that were already read",
    LINK_OUT_REASON: "links out of the folder",
    "a pipe, socket or device, not a regular file": "pipes, sockets or devices, not regular files",
}
"""The plurals of the reasons that say what a file is."""


def classify_reason(reason: str) -> tuple[SkipKind, str]:
    """Return the kind of a reason, and its detail. The kind of an unknown reason is `OTHER_KIND`."""
    for kind in SKIP_KINDS:
        if kind is not OTHER_KIND and (match := re.fullmatch(kind.pattern, reason, re.DOTALL)):
            return kind, match[1] or "" if match.re.groups else ""
    return OTHER_KIND, ""


def is_unexpected(skipped: SkippedFile) -> bool:
    """Return whether skipping a file was unexpected, because such files are usually read."""
    return not classify_reason(skipped.reason)[0].is_expected


@dataclass(slots=True)
class SkipGroup:
    """The files skipped for one reason."""

    label: str
    advice: str  # the option that would help; empty if there is none
    files: list[str] = field(default_factory=list)  # the path of each file, and its detail

    @property
    def noun(self) -> str:
        """What the files are, such as `images`, or `image` for one file; empty if the label only says why."""
        plural = _PLURALS.get(self.label, "")
        return self.label.partition(" ")[2] if plural and len(self.files) == 1 else plural


def group_by_reason(skipped: Iterable[SkippedFile]) -> list[SkipGroup]:
    """Group skipped files by reason. Sort the groups by importance, then by descending size."""
    groups: dict[tuple[int, str], SkipGroup] = {}
    for file in skipped:
        kind, detail = classify_reason(file.reason)
        label = kind.label or file.reason
        group = groups.setdefault((SKIP_KINDS.index(kind), label), SkipGroup(label, kind.advice))
        group.files.append(f"{file.path} ({detail})" if detail else file.path)
    return [group for _, group in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1].files)))]
