"""What must not be torn by Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

__all__ = ["interrupts_blocked", "interrupts_deferred"]


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, so that what is done in it is done whole."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # only the main thread hears it, and nobody if it is ignored
        return
    pending: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pending.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pending:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """A process that starts meanwhile never hears Ctrl-C, which is its parent's business."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # its own start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
