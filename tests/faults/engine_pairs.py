"""Two commands at once on an application's index, while the application writes to it.

No write or deletion of the application is lost. One of two equal documents remains. After another `backfill`, each
document has the fingerprint of its text.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
from typing import Any

from tests.faults.attack import Attack, Place
from tests.faults.pairs import disturb, run_to_end
from tests.support.backfill import load, stored, to
from tests.support.cli import words
from tests.support.engines import call
from tests.support.forked_commands import Running
from tests.support.http_server import indices

__all__ = ["ATTACKS", "PAIRS", "run_pair"]

TEXTS = {f"{side}{number}": words(50 * number, 50 * number + 40) for number in range(15) for side in "ab"}
TEXTS |= {f"c{number}": words(9000 + 50 * number, 9040 + 50 * number) for number in range(15)}
LATE = {f"late{number}": words(20_000 + 50 * number, 20_040 + 50 * number) for number in range(10)}
"""Documents that are written without fingerprints after all others have one."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "backfill": ("backfill", "{url}", "--text-field", "body"),
    "backfill --in-engine": ("backfill", "{url}", "--text-field", "body", "--in-engine"),
    "backfill --stale": ("backfill", "{url}", "--text-field", "body", "--stale"),
    "mark": ("duplicates", "--store", "{url}", "--mark", "--keep-in", "a"),
    "mark by another rule": ("duplicates", "--store", "{url}", "--mark", "--keep-in", "b"),
    "apply": ("apply", "a.tsv", "--delete", "--yes", "--store", "{url}"),
    "apply, the other plan": ("apply", "b.tsv", "--delete", "--yes", "--store", "{url}"),
    "watch": ("watch", "c1", "c2", "--store", "{url}", "--watches", "{watches}"),
    "watch --remove": ("watch", "--remove", "c0", "--store", "{url}", "--watches", "{watches}"),
}
PAIRS = list(itertools.combinations_with_replacement(COMMANDS, 2))


class Application:
    """Changes texts and numbers, writes new documents, and deletes documents.

    Attributes:
        texts: the texts that it wrote, by id.
        removed: the ids of the documents that it deleted.
    """

    def __init__(self, url: str, index: str, seed: int) -> None:
        self.texts: dict[str, str] = {}
        self.removed: set[str] = set()
        self._url, self._index, self._rng = url, index, random.Random(seed)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Application:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        for number in range(40):
            id = self._rng.choice([*TEXTS, *LATE])
            match self._rng.choice(["text", "number", "number", "new", "delete"]):
                case "text":
                    self._write(id, words(10**5 + 50 * number, 10**5 + 50 * number + 40))
                case "number":
                    self._send("POST", f"_update/{id}", {"doc": {"number": number}})
                case "new":
                    self._write(f"new{number}", words(10**6 + 50 * number, 10**6 + 50 * number + 40))
                case "delete":
                    if self._send("DELETE", f"_doc/{id}").get("result") == "deleted":
                        self.removed.add(id)
                        self.texts.pop(id, None)

    def _write(self, id: str, text: str) -> None:
        self._send("PUT", f"_doc/{id}", {"body": text, "number": 0})
        self.texts[id] = text
        self.removed.discard(id)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return call(self._url, method, f"/{self._index}/{path}", body, allowed_statuses=(404, 409))


def run_pair(rng: random.Random, place: Place, names: tuple[str, str] | None = None) -> None:
    """Run two commands at once while an application writes."""
    one, two = names or rng.choice(PAIRS)
    with indices(place.engine) as temp_indices, to(place.engine) as engine:
        mapping = {"properties": {"body": {"type": "text"}, "number": {"type": "integer"}}}
        index = temp_indices.make(mapping, {"number_of_shards": 2})
        values = {"url": f"{place.engine}/{index}", "watches": temp_indices.name()}
        load(engine, index, {id: {"body": text, "number": 0} for id, text in TEXTS.items()})
        _prepare(place, values, {one, two})
        load(engine, index, {id: {"body": text, "number": 0} for id, text in LATE.items()})

        with Application(place.engine, index, rng.randrange(10**6)) as application:
            lines = [[argument.format(**values) for argument in COMMANDS[name]] for name in (one, two)]
            running = [Running(line, place.folder, place.folder / f"log{number}") for number, line in enumerate(lines)]
            disturb(rng, running, within=0.5)
        run_to_end(
            place.folder, "backfill", values["url"], "--text-field", "body"
        )  # because it may have been killed before
        _check(stored(engine, index), application)
        _check_fingerprints(place, values)


def _prepare(place: Place, values: dict[str, str], names: set[str]) -> None:
    """Write fingerprints and two plans that keep opposite documents, and install what the commands need."""
    if "backfill --in-engine" in names:
        run_to_end(place.folder, "template", "install", place.engine, "--pipeline")
    run_to_end(place.folder, "backfill", values["url"], "--text-field", "body")
    for side in "ab":
        run_to_end(place.folder, "duplicates", "--store", values["url"], "--plan", f"{side}.tsv", "--keep-in", side)
    if "watch --remove" in names:
        run_to_end(place.folder, "watch", "c0", "--store", values["url"], "--watches", values["watches"])


def _check(sources: dict[str, Any], application: Application) -> None:
    """Check the writes and deletions of the application, and that one of two equal documents remains."""
    bodies = {id: source["body"] for id, source in sources.items()}
    assert application.texts == {id: bodies.get(id) for id in application.texts}, "a write was lost"
    assert not application.removed & bodies.keys(), "a removed document was restored"
    touched = application.texts.keys() | application.removed
    for id, text in {**TEXTS, **LATE}.items():
        twin = {"a": "b", "b": "a"}.get(id[0], "-") + id[1:]
        if not {id, twin} & touched:
            assert text in (bodies.get(id), bodies.get(twin)), f"{id} is lost"
        if id not in touched and id in bodies:
            assert text == bodies[id]


def _check_fingerprints(place: Place, values: dict[str, str]) -> None:
    """Check that every fingerprint exists and is that of its text. All texts are compared again."""
    status = json.loads(run_to_end(place.folder, "status", values["url"], "--json"))
    compared = json.loads(run_to_end(place.folder, "backfill", values["url"], "--stale", "--full", "--json"))

    assert (0, 0) == (status["missing_count"], status["staleness"]["stale_count"]), status
    assert (status["document_count"], 0) == (compared["unchanged_count"], compared["updated_count"]), compared


ATTACKS = [Attack("pairs of commands on an index", run_pair, needs_engine=True)]
