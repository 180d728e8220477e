"""Files that were found but not read yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from simdoc_search.corpus.formats import TEXT_FORMAT, FileFormat
from simdoc_search.documents import Document, SkippedFile

FileId = tuple[int, int]
"""Device and inode number, which identify a file or folder independently of its name."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file that was found but not read yet. It contains one document.

    Attributes:
        id: the id of its document.
        path: the path of the file.
        root: the absolute path of the indexed folder, or of the file itself if the user named the file.
        size: the size in bytes.
        mtime_ns: the modification time in nanoseconds since 1970.
        max_bytes: the maximum size in bytes. If the file is larger when it is read, it is skipped. None means no limit.
        prefix: the beginning of the id, before the path below the root.
        boundary: the folder that must still contain the file when it is read. None means that links may lead anywhere.
        data: the bytes of a member of an archive; None if the file is read from disk. For a member, `path` is the path
            of the archive, `!` and the member's name.
        format: the format, determined from the name of the file.
        has_attachments: whether the file is an e-mail with attachments that are documents of their own.
    """

    id: str
    path: str
    root: str
    size: int
    mtime_ns: int
    max_bytes: int | None = None
    prefix: str = ""
    boundary: FileId | None = None
    data: bytes | None = field(default=None, repr=False)
    format: FileFormat = TEXT_FORMAT
    has_attachments: bool = False

    @property
    def is_risky(self) -> bool:
        """Whether the file must be read in a subprocess."""
        return self.format.is_risky(self.size)

    @property
    def time_share(self) -> float:
        """The share of the time limit that reading the file may take, 0..1."""
        return self.format.time_share(self.size)


Source = FileSource | Document | SkippedFile
