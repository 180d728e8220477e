"""Prints JSON with tokens, which a program in any language can send.

    python fingerprints.py bulk < ../manuals.jsonl > bulk.ndjson     documents, for POST INDEX/_bulk
    python fingerprints.py query 0.2 0.8 < draft.txt > query.json    similar documents, for POST INDEX/_search

The numbers are the overlap and the probability. requests.http has the requests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from simdoc_search import fingerprint
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import similar_query


def bulk(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a `_bulk` request that writes each document with its fingerprint."""
    actions = ({"_id": document["id"], "_source": document} for document in map(json.loads, lines))
    for action in fingerprint_actions(actions, "body"):
        yield json.dumps({"index": {"_id": action["_id"]}})
        yield json.dumps(action["_source"])


def query(text: str, overlap: str | None = None, probability: str | None = None) -> str:
    """Return the body of a `_search` request. Add your filters to `filter`."""
    clause = similar_query(fingerprint(text).tokens(), overlap, probability, score="tokens")
    return json.dumps({"query": {"bool": {"must": [clause], "filter": []}}, "_source": ["title"]})


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bulk"]:
            for line in bulk(sys.stdin.buffer):
                print(line)
        case ["query", *numbers]:
            print(query(sys.stdin.buffer.read().decode(), *numbers))
        case _:
            sys.exit(__doc__)
