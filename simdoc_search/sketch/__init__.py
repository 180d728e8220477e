"""Sketches: shingles to fingerprint to tokens.

slices.py       many strings hashed at once
murmur3.py      MurmurHash3 of a shingle
siphash.py      SipHash-2-4, with a secret key
key.py          the secret key
base.py         the protocol of a sketch
hashing.py      hashes of shingles, and minima
minhash.py      the default sketch
schemes/        other sketches
frequencies.py  shingles counted as often as they occur
winnow.py       passage tokens
long_text.py    texts too long to be handled at once
fingerprint.py  text to Fingerprint
tokens.py       the stored form of tokens
terms.py        terms of an engine's own `min_hash` filter
estimate.py     overlap of two fingerprints
simhash.py      a 64-bit number for a set of features
near_bits.py    numbers that differ in few bits
crafted_text.py detection of texts made to mislead
settings.py     settings of an index
specs.py        names of sketches in settings
"""

from simdoc_search.sketch.crafted_text import implausible
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints, overlap_of_tokens, shingle_codes
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.winnow import Passages

__all__ = [
    "Fingerprint",
    "HashKey",
    "MinHash",
    "Passages",
    "fingerprints",
    "implausible",
    "overlap_of_tokens",
    "shingle_codes",
]
