"""Sketches that are there already, made with datasketch, in a store: by id and by text.

    pip install 'simdoc-search[datasketch,local]'
    python examples/with_datasketch.py [STORE]

Without STORE it is one in memory. A store takes sketches of one num_perm, seed and scheme, and needs no texts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from datasketch import LeanMinHash, MinHash

from simdoc_search import Settings, SimilaritySearch, open_store
from simdoc_search.analysis import Analysis
from simdoc_search.sketch.sketches import UniversalSketch
from simdoc_search.stores.record import Record

OURS = UniversalSketch(count=128, seed=1, family="affine32")  # num_perm, seed and scheme; "legacy" before datasketch 2
WORDS = Analysis(shingle_size=1)  # what the sets are of; it is for asking with texts

TEXTS = {
    "stove-2021": "Fill the hopper with dry pellets before you light the stove",
    "stove-2023": "Fill the hopper with dry pellets only before you light the stove again",
    "kettle": "Never leave a kettle without water on the hob",
}


def sketched(text: str) -> LeanMinHash:
    """A sketch as people have it, of the set of words."""
    made = MinHash(num_perm=128)
    made.update_batch([word.encode() for word in text.lower().split()])
    return LeanMinHash(made)


def put(search: SimilaritySearch, sketches: Mapping[str, MinHash]) -> None:
    """Index sketches under their ids."""
    with search.store.writer() as writer:
        writer.put(
            Record(id, OURS.encode_sketch(each), round(each.count()), digest="") for id, each in sketches.items()
        )


def main(store: str = ":memory:") -> None:
    """Put three sketches into a store, and ask."""
    search = SimilaritySearch(open_store(store, Settings(WORDS, OURS, passages=None), create=True))
    put(search, {id: sketched(text) for id, text in TEXTS.items()})
    for hit in search.similar("stove-2021", overlap=0.5).hits:
        print(f"like stove-2021: {hit.id}, {hit.overlap:.0%}")
    for hit in search.similar_to_text("fill a kettle with water", overlap=0.1).hits:
        print(f"like the text: {hit.id}, {hit.overlap:.0%}")
    print(f"datasketch says {sketched(TEXTS['stove-2021']).jaccard(sketched(TEXTS['stove-2023'])):.0%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
