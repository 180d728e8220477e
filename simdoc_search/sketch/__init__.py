"""What is kept of a text: shingles to fingerprint to tokens.

slices.py       how are many strings hashed at once?
murmur3.py      how is a shingle hashed?
siphash.py      and with a secret key?
key.py          who knows that key, and who does not?
base.py         what is a sketch?
hashing.py      shingles to hashes, and what a sketch keeps of them
minhash.py      which hashes are kept by default?
schemes/        and which by other sketches?
frequencies.py  what if a shingle counts as often as it is there?
winnow.py       and which for passages?
long_text.py    what if the text is too long to be handled whole?
fingerprint.py  text to Fingerprint
tokens.py       how is it written into an index?
terms.py        what do the terms of an engine's own filter say?
estimate.py     how much do two fingerprints overlap?
simhash.py      which number stands for a sentence?
near_bits.py    which of many numbers differ in a few bits?
crafted_text.py was a text made to win?
settings.py     what must an index remember?
specs.py        and how is a sketch named there?
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
