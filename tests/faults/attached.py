"""Commands for an application's index, over an unreliable connection to the engine."""

from __future__ import annotations

import json
import random

from tests.faults.attack import Attack, Place, command
from tests.faults.engines import Unreliable, until_done
from tests.support.backfill import TEXTS, bodies, load, to
from tests.support.engines import call
from tests.support.http_server import forward, indices, serving

__all__ = ["ATTACKS"]


def unreliable_connection(rng: random.Random, place: Place) -> None:
    """Repeated commands write two fingerprint fields, watches and templates, although requests fail.

    Commands that need modules are skipped with an engine without modules, such as the Elasticsearch of the tests.
    """
    has_modules = "painless" in json.dumps(call(place.engine, "GET", "/_script_language"))
    with indices(place.engine) as temp_indices, serving(forward(place.engine)) as server, to(place.engine) as engine:
        name = temp_indices.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": rng.randint(1, 3)})
        watches = temp_indices.name()
        load(engine, name, bodies(TEXTS))
        url, direct_url = f"{server.url}/{name}", f"{place.engine}/{name}"
        on_watches = ("--store", url, "--field", "simdoc", "--watches", watches)
        with_modules: list[tuple[object, ...]] = [
            ("watch", "doc3", "doc4", *on_watches),
            ("watch", "--check-new", "doc3", *on_watches),
            ("template", "install", server.url, "--search", "--pipeline"),
        ]
        for arguments in (
            ("backfill", url, "--text-field", "body", *rng.choice([[], ["--in-engine"] if has_modules else []])),
            ("backfill", url, "--text-field", "body", "--field", "simdoc_2", "--shingle-size", 4),
            ("template", "install", server.url),
            ("status", url, "--field", "simdoc", "--max-stale", "0%", "--max-missing", "0%"),
            *(with_modules if has_modules else ()),
        ):
            server.handle = Unreliable(rng, forward(place.engine), faults=rng.randint(1, 4), often=0.3)
            until_done(lambda arguments=arguments: command(*arguments, cwd=place.folder).code == 0)  # type: ignore[misc]
        status = json.loads(command("status", direct_url, "--field", "simdoc", "--json", cwd=place.folder).out)
        listed = command("watch", "--list", "--store", direct_url, *on_watches[2:], "--json", cwd=place.folder)
        sources = [hit["_source"] for hit in call(place.engine, "POST", f"/{name}/_search?size=1000")["hits"]["hits"]]

        assert (len(TEXTS), 0) == (status["document_count"], status["missing_count"])
        assert ({"doc3", "doc4"} if has_modules else set()) == {
            watched["id"] for watched in json.loads(listed.out)["watched"]
        }
        assert [{"body", "number", "simdoc", "simdoc_2"}] * len(TEXTS) == [source.keys() for source in sources]


ATTACKS = [Attack("an unreliable connection to an application's index", unreliable_connection, needs_engine=True)]
