"""The main program of a worker process: receives items, processes them, and ends when its parent ends."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO, NoReturn

from simdoc_search.errors import SimdocError, is_out_of_memory
from simdoc_search.workers.process import OUT_OF_MEMORY_STATUS


def main() -> None:
    """Receive a function and its items from the parent process on stdin, and send the results to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    requests, responses = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # output of file readers must not mix with the responses
    received_objects: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, received_objects), daemon=True).start()
    try:
        _serve(received_objects, responses)
    except BrokenPipeError:  # the parent has ended
        os._exit(0)


def _serve(received_objects: queue.SimpleQueue[Any], responses: BinaryIO) -> NoReturn:
    def send(kind: str, value: object) -> None:
        responses.write(pickle.dumps((kind, value), pickle.HIGHEST_PROTOCOL))
        responses.flush()

    work = received_objects.get()
    send("ready", None)
    while True:
        items = received_objects.get()
        try:
            send("done", work(items, lambda index, share=1.0: send("item", (index, share))))
        except Exception as error:
            if is_out_of_memory(error):
                os._exit(OUT_OF_MEMORY_STATUS)  # free the memory for the next process
            send("failed", _to_picklable(error))


def _receive(requests: BinaryIO, received_objects: queue.SimpleQueue[Any]) -> None:
    """Receive items in a thread, so that this process ends at once when its parent ends, even during work."""
    try:
        while True:
            received_objects.put(pickle.load(requests))  # noqa: S301 - the data is from our own process
    except (EOFError, OSError):
        os._exit(0)
    except BaseException as error:  # the received data cannot be unpickled
        if is_out_of_memory(error):
            os._exit(OUT_OF_MEMORY_STATUS)
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def _to_picklable(error: Exception) -> Exception:
    """Return an error that can be pickled: a SimdocError itself, or a RuntimeError with the traceback of the error."""
    if isinstance(error, SimdocError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)))
