"""What runs in a process: it waits for items, does its work with them, and ends when its parent is gone."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from io import FileIO
from typing import Any, NoReturn

from simdoc_search.errors import SimdocError
from simdoc_search.workers.memory import is_out_of_memory, save_address_space
from simdoc_search.workers.messages import OUT_OF_MEMORY, receive, send


def main() -> None:
    """Serve the parent, which is at the other end of standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    save_address_space()
    requests, answers = FileIO(os.dup(0), "r"), FileIO(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # what a reader prints must not get among the answers
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    try:
        _serve(waiting, answers)
    except BrokenPipeError:  # the parent is gone
        os._exit(0)


def _serve(waiting: queue.SimpleQueue[Any], answers: FileIO) -> NoReturn:
    work = waiting.get()
    send(answers, ("ready", None))
    while True:
        items = waiting.get()
        try:
            answer = "done", work(items, lambda number, share=1.0: send(answers, ("at", (number, share))))
        except Exception as error:
            if is_out_of_memory(error):
                os._exit(OUT_OF_MEMORY)  # the next process has the memory that this one holds
            answer = "failed", _portable(error)
        send(answers, answer)


def _listen(requests: FileIO, waiting: queue.SimpleQueue[Any]) -> None:
    """Pass on what the parent says; when it is gone, even killed, end at once, also in the middle of work."""
    try:
        while True:
            waiting.put(receive(requests))
    except (EOFError, OSError):
        os._exit(0)
    except BaseException as error:  # what came is nothing that this process can load
        if is_out_of_memory(error):
            os._exit(OUT_OF_MEMORY)
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def _portable(error: Exception) -> Exception:
    """An error that the parent can raise again; others' may not pickle."""
    if isinstance(error, SimdocError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)))
