"""Recognises moved and renamed files by their content: a file is missing, and a new file has the same content."""

from __future__ import annotations

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.display import format_count
from simdoc_search.indexing.input_paths import InputPath, is_missing
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.stores.base import Store


class MovedFiles:
    """The moved and renamed files of one run."""

    def __init__(self, store: Store, seen: SeenIds) -> None:
        self._store, self._seen = store, seen
        self._new_digests: set[str] = set()
        self._count = 0

    @property
    def has_new_documents(self) -> bool:
        """Whether the run found new documents in a folder that was indexed before."""
        return bool(self._new_digests)

    def note_written(self, id: str, digest: str, input_path: InputPath | None) -> None:
        """Remember the content of a document if the document is new but its folder is not."""
        if input_path and input_path.stored_count and self._seen.is_new(id):
            self._new_digests.add(digest)

    def find_old_ids(self, input_path: InputPath) -> list[str]:
        """Return the ids of the documents of a path whose files were moved or renamed.

        If the path has no files left, it might just be unreachable, so no ids are returned.
        """
        if not self._new_digests or not input_path.file_count or input_path.found_count >= input_path.stored_count:
            return []
        ids = []
        for record in self._store.scan(root_folder=input_path.root):
            origin = record.origin
            if record.digest in self._new_digests and record.id not in self._seen and origin:
                path = origin.path_of(record.id)
                file = find_archive(path) or path if origin.content_hash else path
                if input_path.find_unreadable_path(path) is None and is_missing(file):
                    ids.append(record.id)
        self._count += len(ids)
        return ids

    def make_notes(self) -> list[str]:
        """Return a sentence for the report, if a file was moved."""
        files_were = format_count(self._count, "moved or renamed file was", "moved or renamed files were")
        paths = "new path and removed at the old path" if self._count == 1 else "new paths and removed at the old paths"
        return [f"{files_were} recognised by content: indexed at the {paths}"] if self._count else []
