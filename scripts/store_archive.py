"""Make the small stored index that a test opens for ever: one archive for each form that stores have had.

    python scripts/store_archive.py tests/data/store_layout_1.tar.gz

Run it once for a new form, never again for an old one.
"""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import tempfile
from pathlib import Path

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings

DOCUMENTS = [
    Document("letters/draft.txt", "The quick brown fox jumps over the lazy dog near the bank.", {"year": 2020}),
    Document("letters/final.txt", "the quick brown FOX jumps over the lazy cat near the bank", {"team": ["a", "b"]}),
    Document("notes/größe.txt", "Die Größe der Straße, gemessen in Zürich: 漢字 und \U0001f600 zählen mit."),
]


def main() -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        settings = Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names"))
        SimilaritySearch(open_store(store, settings, create=True)).index(DOCUMENTS)
        Path(sys.argv[1]).write_bytes(gzip.compress(_tar(store), mtime=0))


def _tar(folder: Path) -> bytes:
    """The files in their order, of nobody and no time; no locks."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file() and each.suffix != ".lock"):
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            member.size = file.stat().st_size
            archive.addfile(member, io.BytesIO(file.read_bytes()))
    return buffer.getvalue()


if __name__ == "__main__":
    main()
