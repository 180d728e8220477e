"""Plays the month of an application of tests/living, in a minute or in an hour.

    python scripts/living.py --on three_nodes --documents 2000 --rollover 500

The engine is started for it, unless --on is the address of one. It ends with an error where a command is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from simdoc_search.devengine import running_cluster
from tests.living.month import Size, month, play
from tests.support.elasticsearch_7 import running_elasticsearch_7
from tests.support.living import has_data_streams

ENGINES = {"opensearch": 1, "three_nodes": 3, "elasticsearch_7": 0}
"""Those that are started for it, with how many nodes OpenSearch has."""


def main() -> None:
    """An alias, and where the engine has them a data stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", default="opensearch", help="opensearch, three_nodes, elasticsearch_7, or a URL")
    parser.add_argument("--documents", type=int, default=1200, help="those of the first step")
    parser.add_argument("--rollover", type=int, default=500, help="documents of an index")
    parser.add_argument("--sources", type=int, default=5, help="documents that are asked about after each step")
    parser.add_argument("--seed", type=int, default=1, help="another one is another month")
    asked = parser.parse_args()
    spread = {"shards": 3, "replicas": 1} if asked.on == "three_nodes" else {}
    size = Size(asked.rollover, asked.documents, asked.sources, **spread)
    with _engine(asked.on) as url:
        for is_stream in (False, True) if has_data_streams(url) else (False,):
            started = monotonic()
            print("a data stream" if is_stream else "an alias", flush=True)
            with month(url, size, is_stream=is_stream, seed=asked.seed) as played:
                play(played, lambda line: print(f"  {line}", flush=True))
            print(f"  every answer was right, in {monotonic() - started:.0f} s", flush=True)


@contextmanager
def _engine(name: str) -> Iterator[str]:
    if "://" in name:
        yield name
    elif ENGINES[name]:
        with running_cluster(ENGINES[name], heap="512m") as cluster:
            yield cluster.urls[0]
    else:
        with running_elasticsearch_7() as url:
            yield url


if __name__ == "__main__":
    main()
