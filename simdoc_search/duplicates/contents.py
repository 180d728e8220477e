"""Compares the contents of the documents in a group: bytes of files, or text and metadata of documents without files.

A file is only read if another file in its group has the same size, or a member of an archive has the same text. Hard
links to one file are read once. Files that are not in the store are not read again, because `records_of_equal_files`
has read them.

The text of an e-mail does not contain its attachments. If e-mails have the same words, their attachments are compared.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from simdoc_search.corpus.attachments import find_attachments
from simdoc_search.corpus.formats import determine_format
from simdoc_search.duplicates.arrays import Ints, slices
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.plan.files import GONE, FileIdentity, read_state, unreadable_error
from simdoc_search.duplicates.plan.rows import LeftAloneError
from simdoc_search.small_files import read_small_file

_TEXT_GROUPS_PER_BATCH = 100

HashFields = Callable[[Sequence[int]], Mapping[int, str]]
"""A function that maps the indices of documents to hashes of all their fields. The result is empty if
`Documents.content_labels` already covers the metadata."""


@dataclass(slots=True)
class Contents:
    """The result of comparing the contents of documents."""

    labels: Ints  # one number per document, equal for equal contents; int64, shape (documents,)
    files: dict[int, FileIdentity] = field(default_factory=dict)  # for each document, the identity of its file
    # for each document whose bytes were not compared, the reason
    problems: dict[int, str] = field(default_factory=dict)
    # for each e-mail with the words of another document in its group, a hash of its attachments; empty if it has none,
    # None if they cannot be read
    attachments: dict[int, str | None] = field(default_factory=dict)

    def have_equal_attachments(self, a: int, b: int) -> bool:
        """Return whether two documents with the same words have equal attachments, or none."""
        hashes = self.attachments.get(a, ""), self.attachments.get(b, "")
        return hashes[0] == hashes[1] and None not in hashes


def compare_contents(
    documents: Documents,
    groups: Mapping[int, Sequence[int]],
    hash_fields: HashFields = lambda _: {},
    progress: Callable[[float], object] = lambda _: None,
) -> Contents:
    """Compare the contents of the documents in each group.

    `groups` contains the duplicates of each kept document.
    """
    contents = Contents(documents.content_labels.copy())
    same_text: list[list[int]] = []
    for number, (kept, duplicates) in enumerate(groups.items(), 1):
        group = [kept, *duplicates]
        same_text += _find_equal_texts(documents, group)
        members_by_text: dict[int, list[int]] = defaultdict(list)  # the members of archives
        for document in group:
            if documents.file_sizes[document] < 0:
                members_by_text[int(documents.text_labels[document])].append(document)
        for files in _group_files_by_size(documents, group, contents):
            _compare_files(documents, files, members_by_text, contents)
        for document in _find_mails_with_equal_words(documents, group, contents):
            contents.attachments[document] = _hash_attachments(
                documents.path(document) or "", int(documents.file_sizes[document])
            )
        progress(number / len(groups))
    for part in slices(len(same_text), _TEXT_GROUPS_PER_BATCH):
        hashes = hash_fields([document for members in same_text[part] for document in members])
        for members in same_text[part]:
            first_with_hash: dict[str, int] = {}
            for document in members:
                if document in hashes:
                    contents.labels[document] = contents.labels[first_with_hash.setdefault(hashes[document], document)]
    return contents


def _find_equal_texts(documents: Documents, group: Sequence[int]) -> Iterator[list[int]]:
    """Among documents without files, yield each group that has equal texts but different content labels."""
    by_text: dict[int, list[int]] = defaultdict(list)
    for document in group:
        if documents.path(document) is None:
            by_text[int(documents.text_labels[document])].append(document)
    for members in by_text.values():
        if len({int(documents.content_labels[document]) for document in members}) > 1:
            yield members


def _group_files_by_size(documents: Documents, group: Sequence[int], contents: Contents) -> list[list[list[int]]]:
    """Group files by size. Each file is represented by the list of its documents, one per hard link."""
    by_size: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for document in group:
        path, size = documents.path(document), int(documents.file_sizes[document])
        if path is not None and size >= 0:
            try:
                file = _read_identity(path, size, int(documents.mtimes[document]))
            except LeftAloneError as error:
                contents.problems[document] = str(error)
            else:
                contents.files[document] = file
                by_size[size][file.inode].append(document)
    return [list(by_inode.values()) for by_inode in by_size.values()]


def _compare_files(
    documents: Documents, files: list[list[int]], members_by_text: Mapping[int, Sequence[int]], contents: Contents
) -> None:
    """Give equal labels to documents whose files have equal bytes.

    All files have the same size. Each is represented by the list of its documents. `members_by_text` contains the
    members of archives in the group, by the label of their text.
    """
    first_with_hash: dict[str, int] = {}
    for links in files:
        contents.labels[links] = contents.labels[links[0]]
        same_text = members_by_text.get(int(documents.text_labels[links[0]]), ())
        if (len(files) == 1 and not same_text) or not documents.is_indexed(links[0]):
            continue
        try:
            state, info = read_state(documents.path(links[0]) or "")
            if FileIdentity.from_stat(info) != contents.files[links[0]]:
                raise LeftAloneError("the file changed during this run")
        except LeftAloneError as error:
            contents.problems |= dict.fromkeys(links, str(error))
        else:
            equal = next((member for member in same_text if documents.has_content_hash(member, state.hash)), links[0])
            contents.labels[links] = contents.labels[first_with_hash.setdefault(state.hash, equal)]


def _find_mails_with_equal_words(documents: Documents, group: Sequence[int], contents: Contents) -> Iterator[int]:
    """Yield the e-mails that have the same words as another document in the group, but different bytes."""
    contents_by_words: dict[int, set[int]] = defaultdict(set)
    for document in group:
        contents_by_words[int(documents.same_words_labels[document])].add(int(contents.labels[document]))
    for document in group:
        path, has_file = documents.path(document), document in contents.files
        has_equal_words = len(contents_by_words[int(documents.same_words_labels[document])]) > 1
        if path is not None and has_file and has_equal_words and determine_format(path).is_mail:
            yield document


def _hash_attachments(path: str, size: int) -> str | None:
    """Return a hash of the attachments of an e-mail; empty if it has none, None if they cannot be read."""
    if determine_format(path).extension != ".eml":
        return None
    try:
        attachments = sorted(find_attachments(read_small_file(path, size)))
    except (OSError, ValueError):
        return None
    digest = hashlib.blake2b()
    for name, data in attachments:
        digest.update(f"{len(name)} {len(data)} ".encode() + name.encode("utf-8", "backslashreplace") + data)
    return digest.hexdigest() if attachments else ""


def _read_identity(path: str, size: int, mtime_ns: int) -> FileIdentity:
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        raise LeftAloneError(GONE) from None
    except (OSError, ValueError) as error:
        raise unreadable_error(error) from None
    if not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("the path does not lead to a regular file")
    if (info.st_size, info.st_mtime_ns) != (size, mtime_ns):
        raise LeftAloneError("the file has changed since it was indexed")
    return FileIdentity.from_stat(info)
