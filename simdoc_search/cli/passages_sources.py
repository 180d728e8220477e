"""What `simdoc-search passages` is asked about: documents of the store, files, a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simdoc_search.cli.input_text import read_file
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.documents import Skipped


@dataclass(frozen=True, slots=True)
class Asked:
    """A document or text that is asked about.

    Attributes:
        name: what a person calls it.
        text: the text; None: the store has it, under this name.
        file: the path of the file that the text is of; `-` is standard input.
        row: the id of the row or line of a table that it is of.
    """

    name: str
    text: str | None = None
    file: str | None = None
    row: str | None = None


def asked_documents(names: Iterable[str]) -> list[Asked]:
    """Documents of the store."""
    return [Asked(name) for name in names]


def asked_file(file: Path) -> Asked:
    """One file, or `-`, or a pipe.

    Raises:
        CorpusError: it cannot be read.
        DocumentError: it is no text.
    """
    return Asked(str(file), read_file(file), str(file))


def asked_text(text: str) -> Asked:
    """A text; `-` is what standard input has."""
    return Asked("the text", read_file(Path("-")) if text == "-" else text)


class Files:
    """The texts of files and folders, read as they come.

    Args:
        paths: files, folders, `-` for standard input.
        listed: whether all files are to be found before the first is read, so that their number is known.

    Attributes:
        skipped: what gave no text, and why.
        problems: a sentence for each path that could not be looked into.

    Raises:
        CorpusError: a path is missing, or no file.
    """

    def __init__(self, paths: Sequence[Path], *, listed: bool) -> None:
        from simdoc_search.corpus import read_corpus
        from simdoc_search.indexing import skip_unreadable

        self.skipped: list[Skipped] = []
        self.problems: list[str] = []
        sources = skip_unreadable(read_corpus(paths, stdin_id="-"), self.problems)
        self._sources = list(sources) if listed else sources
        self.total: int | None = len(self._sources) if isinstance(self._sources, list) else None

    def __iter__(self) -> Iterator[Asked]:
        from simdoc_search.corpus import read_sources

        for source, found in read_sources(self._sources):
            if isinstance(found, Skipped):
                self.skipped.append(found)
            elif isinstance(source, FileSource):
                yield Asked(str(source.path), found.text, str(source.path))
            else:
                named = {"file": "-"} if found.id == "-" else {"row": found.id}
                yield Asked(found.id, found.text, **named)
