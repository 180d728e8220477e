"""Work for subprocesses that crashes, hangs or exhausts the memory on request. It imports little, to start fast."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence

from simdoc_search.errors import DocumentError
from simdoc_search.workers import BeginItem

__all__ = ["failed", "numbers", "work"]

KEPT: list[bytes] = []


def work(items: Sequence[str], begin_item: BeginItem) -> list[str]:
    """Return the items in upper case, except those that cause trouble."""
    outcomes = []
    for place, item in enumerate(items):
        begin_item(place)
        if item == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "hang":
            time.sleep(3600)
        if item == "keep":
            KEPT.append(b"x" * 150_000_000)
            time.sleep(0.3)
        if item == "swell":
            swell()
        if item == "print":
            sys.stdout.write("a message\n")
            os.write(1, b"another\n")
        if item == "no memory":
            raise MemoryError
        if item == "no thread":
            raise RuntimeError("can't start new thread")
        if item == "fail":
            raise ValueError("the work is wrong")
        outcomes.append(item.upper())
    begin_item(None)
    if "late crash" in items:
        os.kill(os.getpid(), signal.SIGKILL)
    if "late swell" in items:
        swell()
    return outcomes


def swell() -> None:
    """Take twice the allowed memory, and wait."""
    held = [b"x" * 10_000_000 for _ in range(60)]
    time.sleep(3600 * len(held))


def failed(item: str, reason: str) -> str:
    """Return the outcome of an item that ended its process."""
    return f"{item}: {reason}"


def numbers(count: int, how: str = "") -> Iterator[int]:
    """Yield the numbers below `count`, and then cause trouble."""
    yield from range(count)
    work([how], lambda *_: None) if how else None
    if how == "refuse":
        raise DocumentError("refused")


def double(item: object) -> int:
    """Return twice a number, or raise an error."""
    if isinstance(item, Exception):
        raise item
    return 2 * item  # type: ignore[operator] # a wrong item raises a TypeError


def double_in_parent(item: tuple[int, int]) -> tuple[int, int]:
    """Return twice a number, and the process. Any process except this one crashes."""
    number, parent = item
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number, os.getpid()
