"""Senders of writes, and writes for them."""

from __future__ import annotations

from collections.abc import Callable

from simdoc_search.stores.remote.bulk import Action
from simdoc_search.stores.remote.sending import BulkSender
from tests.support.http_server import Handler


def write(id: object, value: object = 1) -> Action:
    return Action.make("index", str(id), {"value": value}, _index="index")


def send(sender: BulkSender, *actions: Action) -> None:
    for each in actions:
        sender.add(each)
    sender.flush()


NewSender = Callable[[Handler], BulkSender]
