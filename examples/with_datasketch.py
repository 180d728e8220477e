"""Stores sketches that datasketch has already computed, and queries them by id and by text.

    pip install '.[datasketch,local]'
    python examples/with_datasketch.py [STORE]

Without STORE, the store is in memory. All sketches of a store have the same num_perm, seed and scheme. The store needs
no texts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from datasketch import LeanMinHash, MinHash

from simdoc_search import Settings, SimilaritySearch, open_store
from simdoc_search.analysis import Analysis
from simdoc_search.sketch.sketches import UniversalSketch
from simdoc_search.stores.record import Record

SKETCH = UniversalSketch(
    count=128, seed=1, family="affine32"
)  # num_perm, seed and scheme; "legacy" before datasketch 2
WORDS = Analysis(shingle_size=1)  # the sets contain words; needed for queries with a text

TEXTS = {
    "stove-2021": "Fill the hopper with dry pellets before you light the stove",
    "stove-2023": "Fill the hopper with dry pellets only before you light the stove again",
    "kettle": "Never leave a kettle without water on the hob",
}


def make_sketch(text: str) -> LeanMinHash:
    """Return the datasketch sketch of the words of a text."""
    sketch = MinHash(num_perm=128)
    sketch.update_batch([word.encode() for word in text.lower().split()])
    return LeanMinHash(sketch)


def put(search: SimilaritySearch, sketches: Mapping[str, MinHash]) -> None:
    """Index sketches under their ids."""
    with search.store.writer() as writer:
        writer.put(
            Record(id, SKETCH.encode_sketch(sketch), round(sketch.count()), digest="")
            for id, sketch in sketches.items()
        )


def main(store: str = ":memory:") -> None:
    """Put three sketches into a store, and query it."""
    search = SimilaritySearch(open_store(store, Settings(WORDS, SKETCH, passages=None), create=True))
    put(search, {id: make_sketch(text) for id, text in TEXTS.items()})
    for hit in search.similar("stove-2021", overlap=0.5).hits:
        print(f"similar to stove-2021: {hit.id}, {hit.overlap:.0%}")
    for hit in search.similar(text="fill a kettle with water", overlap=0.1).hits:
        print(f"similar to the text: {hit.id}, {hit.overlap:.0%}")
    print(f"datasketch says {make_sketch(TEXTS['stove-2021']).jaccard(make_sketch(TEXTS['stove-2023'])):.0%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
