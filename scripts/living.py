"""Plays the month of tests/living at any size, with an alias and a data stream.

    python scripts/living.py --on three_nodes --documents 2000 --rollover 500

It starts an engine, unless --on is the URL of one. It ends with an error if an answer is wrong.
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
from tests.support.rolling_index import has_data_streams

ENGINES = {"opensearch": 1, "three_nodes": 3, "elasticsearch_7": 0}
"""Engines that can be started, with the number of nodes of OpenSearch."""


def main() -> None:
    """Play the month with an alias, and with a data stream if the engine has them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", default="opensearch", help="opensearch, three_nodes, elasticsearch_7, or a URL")
    parser.add_argument("--documents", type=int, default=1200, help="documents of the first step")
    parser.add_argument("--rollover", type=int, default=500, help="documents per index")
    parser.add_argument("--sources", type=int, default=5, help="query documents after each step")
    parser.add_argument("--seed", type=int, default=1, help="seed of the texts")
    arguments = parser.parse_args()
    spread = {"shards": 3, "replicas": 1} if arguments.on == "three_nodes" else {}
    size = Size(arguments.rollover, arguments.documents, arguments.sources, **spread)
    with _engine(arguments.on) as url:
        for is_stream in (False, True) if has_data_streams(url) else (False,):
            started = monotonic()
            print("a data stream" if is_stream else "an alias", flush=True)
            with month(url, size, is_stream=is_stream, seed=arguments.seed) as played:
                play(played, lambda line: print(f"  {line}", flush=True))
            print(f"  all answers were right, in {monotonic() - started:.0f} s", flush=True)


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
