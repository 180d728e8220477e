"""What looks at all documents: it may take minutes, so it runs beside the requests, one of a kind at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from simdoc_search.cancellation import StoppedError
from simdoc_search.documents import Place
from simdoc_search.duplicates import Duplicates, Group
from simdoc_search.duplicates.plan.rows import Action
from simdoc_search.errors import SimdocError
from simdoc_search.groups import Topics

Result = TypeVar("Result")
Progress = Callable[[Any, float], None]


@dataclass(slots=True)
class Found:
    """What was found, and what a person decided of it.

    Attributes:
        duplicates: the groups.
        asked: what was asked for: `overlap` in percent, `keep`, `measure`.
        decided: what is to become of documents, where that is not as proposed; this process alone remembers it.
    """

    duplicates: Duplicates
    asked: Mapping[str, str]
    decided: dict[Place, Action] = field(default_factory=dict)
    _groups: list[Group] = field(default_factory=list)
    _further: Iterator[Group] | None = None
    _lock: Lock = field(default_factory=Lock)

    def groups(self, start: int, count: int) -> list[Group]:
        """Some of the groups, from one on; those before it were made already, and are remembered."""
        if start >= self.duplicates.group_count:
            return []
        with self._lock:
            self._further = self._further or self.duplicates.groups()
            self._groups += islice(self._further, max(0, start + count - len(self._groups)))
            return self._groups[start : start + count]


@dataclass(slots=True)
class FoundTopics:
    """The topics, and what those are about that were shown: to find that out takes a while."""

    topics: Topics
    names: dict[Place, tuple[str, ...]] = field(default_factory=dict)


class Finding(Generic[Result]):
    """One search at a time; the last result stays until there is another.

    Args:
        name: what is looked for.

    Attributes:
        found: the last result.
        problem: why the last search found nothing, in a sentence.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.found: Result | None = None
        self.problem: str = ""
        self._state: tuple[str, float] | None = None
        self._stops = False
        self._lock = Lock()

    @property
    def state(self) -> tuple[str, float] | None:
        """What is being done, and the share of it, 0..1; None: nothing is."""
        return self._state

    def start(self, find: Callable[[Progress], Result]) -> bool:
        """Start a search, which is called with what it is to tell of its progress; False: one is running."""
        with self._lock:
            if self._state is not None:
                return False
            self._state, self._stops, self.problem = ("reading", 0.0), False, ""
        Thread(target=self._run, args=(find,), name=self._name, daemon=True).start()
        return True

    def stop(self) -> None:
        """End the search that is running, soon."""
        self._stops = True

    def _progress(self, stage: str, share: float) -> None:
        if self._stops:
            raise StoppedError
        self._state = stage, share

    def _run(self, find: Callable[[Progress], Result]) -> None:
        problem = "the search ended by an error; the server's log has it"
        try:
            self.found = find(self._progress)
            problem = ""
        except StoppedError:
            problem = "the search was stopped"
        except SimdocError as error:
            problem = str(error)
        finally:
            self.problem, self._state = problem, None
