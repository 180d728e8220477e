"""Other settings for an index in use: the changes that tests make, and what an index has afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from simdoc_search import Analysis, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import all_hits

__all__ = ["FOUR", "Beside", "asked", "fresh", "of_four", "of_three"]

FOUR = Settings(Analysis(shingle_size=4))


def of_four(settings: Settings) -> Settings:
    """The change that is made here."""
    return replace(settings, analysis=replace(settings.analysis, shingle_size=4))


def of_three(settings: Settings) -> Settings:
    """Another one."""
    return replace(settings, analysis=replace(settings.analysis, shingle_size=3))


class Beside:
    """Runs things beside what is in the block, and waits for them at its end."""

    def __init__(self, *actions: Callable[[], None]) -> None:
        self._failed: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(each,), name=each.__name__) for each in actions]

    def _run(self, action: Callable[[], None]) -> None:
        try:
            action()
        except BaseException as error:
            self._failed.append(error)

    def __enter__(self) -> None:
        for each in self._threads:
            each.start()

    def __exit__(self, *_: object) -> None:
        for each in self._threads:
            each.join()
        assert [] == self._failed


def asked(engine: Engine, name: str) -> tuple[str, Settings]:
    """The field that a store asks, and its settings."""
    store = open_store(client=engine._client, index=name)
    return store.field, store.settings  # type: ignore[attr-defined]


def fresh(engine: Engine, name: str, field: str, settings: Settings) -> int:
    """How many documents have the fingerprint of their text in a field; all that have it must."""
    engine.refresh(name)
    hits = list(all_hits(engine, name, {"query": {"match_all": {}}, "sort": ["_doc"]}))
    for hit in hits:
        assert fingerprint_field(hit["_source"]["body"], settings) == hit["_source"][field], hit["_id"]
    return len(hits)
