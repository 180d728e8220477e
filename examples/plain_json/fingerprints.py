"""JSON with tokens, for a program in any language to send.

    python fingerprints.py bulk < ../manuals.jsonl > bulk.ndjson     documents, for POST INDEX/_bulk
    python fingerprints.py query 0.2 0.8 < draft.txt > query.json    what is like a text, for POST INDEX/_search

The numbers are overlap and probability. requests.http has the requests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from simdoc_search import fingerprint
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import similar_query


def bulk(lines: Iterable[bytes]) -> Iterator[str]:
    """The lines of a `_bulk` request: each document with its fingerprint."""
    actions = ({"_id": document["id"], "_source": document} for document in map(json.loads, lines))
    for action in fingerprint_actions(actions, "body"):
        yield json.dumps({"index": {"_id": action["_id"]}})
        yield json.dumps(action["_source"])


def query(text: str, overlap: str | None = None, probability: str | None = None) -> str:
    """The body of a `_search` request; put your filters beside the clause."""
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
