"""Senders of writes, and writes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

from simdoc_search.stores.remote.bulk import Action, BulkWriter
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.writer import ChunkSender
from tests.support.http_server import Handler, serving

NewSender = Callable[[Handler], ChunkSender]


@contextmanager
def senders() -> Iterator[NewSender]:
    """Makes senders to an engine, and closes them."""
    with ExitStack() as opened:

        def make(engine: Handler) -> ChunkSender:
            server = opened.enter_context(serving(engine))
            client, _ = connect(f"{server.url}/index", engine="opensearch")
            opened.callback(client.close)
            in_background = client.in_background()
            bulk = BulkWriter(in_background, "index", {"index": "u"})

            def write_chunk(actions: list[Action]) -> dict[str, str]:
                return {action.id: outcome.reason for action, outcome in bulk.write(actions) if outcome.error}

            return opened.enter_context(closing(ChunkSender(write_chunk, in_background.stopped)))

        yield make


def write(id: object, value: object = 1) -> Action:
    """A write of a value."""
    return Action.make("index", str(id), {"value": value}, _index="index")


def send(sender: ChunkSender, *actions: Action) -> None:
    """All of them, to the last."""
    for each in actions:
        sender.add(each)
    sender.flush()
