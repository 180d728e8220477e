"""Sources one after the other, also where some of them break: the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from simdoc_search.documents import Document, FileSource, Skipped
from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError

Source = Document | FileSource | Skipped
Found = TypeVar("Found")


def going_on(sources: Iterable[Source], problems: list[str]) -> Iterator[Source]:
    """The sources; an error of the corpus is one sentence more among the problems, and what comes after it goes on."""
    rest = iter(sources)
    last = ""
    while True:
        try:
            source = next(rest)
        except StopIteration:
            return
        except (CorpusError, DocumentError, MissingExtraError) as error:
            if str(error) == last:  # it says nothing but this
                return
            last = str(error)
            problems.append(last)
            continue
        last = ""
        yield source


class Stream:
    """The sources of a run, some at a time.

    Attributes:
        problems: a sentence for each part of the corpus that could not be read.
        error: what else ended the stream before its time; what came before is to be stored, then it is to be raised.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.problems: list[str] = []
        self.error: Exception | None = None
        self._sources = going_on(sources, self.problems)

    def batches(self, size: int, inside: Callable[[Source], Iterable[Found]]) -> Iterator[list[Found]]:
        """What is found in all sources, in lists of this size; the last one is shorter."""
        some: list[Found] = []
        for source in self._all():
            for each in inside(source):
                some.append(each)
                if len(some) == size:
                    yield some
                    some = []
        yield some

    def _all(self) -> Iterator[Source]:
        try:
            yield from self._sources
        except Exception as error:
            self.error = error
