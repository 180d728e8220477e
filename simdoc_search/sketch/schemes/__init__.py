"""Other sketches than ours, for whoever wants them: each is one file behind one protocol.

base.py       what is such a sketch?
xor.py        one hash, XOR-ed with random numbers
universal.py  universal hash functions, by datasketch
scaled.py     all hashes below a limit (FracMinHash)
bottom_k.py   the k smallest hashes

Ours (`sketch.minhash`) is the default and the best known here: one hash, cut into buckets.
"""

from simdoc_search.sketch.schemes.base import AnySketch, Sketch
from simdoc_search.sketch.schemes.bottom_k import BottomK
from simdoc_search.sketch.schemes.scaled import Scaled
from simdoc_search.sketch.schemes.universal import Universal
from simdoc_search.sketch.schemes.xor import Xor

__all__ = ["SCHEMES", "AnySketch", "BottomK", "Scaled", "Sketch", "Universal", "Xor"]

SCHEMES: dict[str, type[Sketch]] = {each.name: each for each in (Scaled, Universal, Xor, BottomK)}
"""All of them, by their names."""
