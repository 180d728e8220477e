"""The sketches that a store may use. Each is one file that implements `sketch.base.Sketch`.

xor.py        one hash, XOR-ed with random numbers
universal.py  universal hash functions, by datasketch
scaled.py     all hashes below a limit (FracMinHash)
bottom_k.py   the k smallest hashes

`sketch.minhash` is the default and the best of them: one hash, cut into buckets.
"""

from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.schemes.bottom_k import BottomK
from simdoc_search.sketch.schemes.scaled import Scaled
from simdoc_search.sketch.schemes.universal import Universal
from simdoc_search.sketch.schemes.xor import Xor

__all__ = ["SCHEMES", "BottomK", "Scaled", "Universal", "Xor"]

SCHEMES: dict[str, type[Sketch]] = {
    MinHash.STORED_NAME: MinHash,
    **{each.name: each for each in (Scaled, Universal, Xor, BottomK)},
}
"""All sketches, by their names in stored settings."""
