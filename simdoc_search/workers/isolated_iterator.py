"""One iterator in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from simdoc_search.errors import DocumentError
from simdoc_search.workers.limits import Limits
from simdoc_search.workers.process import Begin, Work, started

Value = TypeVar("Value")

_AT_ONCE = 256


def apart(
    make: Callable[..., Iterator[Value]], *arguments: Any, limits: Limits | None = None, at_once: int = _AT_ONCE
) -> Generator[Value, None, None]:
    """What an iterator gives, made and run in another process, for what other people's code reads.

    Args:
        make: gives the iterator; it, the arguments and the values must be picklable.
        arguments: what it is called with.
        limits: what the values may cost that are made at once.
        at_once: how many these are.

    Raises:
        DocumentError: the process crashed, or passed a limit; the message is the reason in a few words.
        SimdocError: the iterator raised it.
    """
    work: Work[int, Value] = _Values(make, arguments)
    with started(1, work, limits or Limits()) as (process,):
        while (end := process.run([0] * at_once)).outcomes:
            yield from end.outcomes
        if end.outcomes is None:
            raise DocumentError(end.reason)


class _Values(Generic[Value]):
    """The work: the next values."""

    def __init__(self, make: Callable[..., Iterator[Value]], arguments: Sequence[Any]) -> None:
        self._make, self._arguments = make, arguments
        self._values: Iterator[Value] | None = None

    def __call__(self, items: Sequence[int], begin: Begin) -> list[Value]:
        begin(0)
        if self._values is None:
            self._values = iter(self._make(*self._arguments))
        return list(islice(self._values, len(items)))
