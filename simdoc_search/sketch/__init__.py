"""Computes fingerprints from shingles, and tokens from fingerprints.

hash_functions.py    MurmurHash3 and SipHash of many strings at once
key.py               the secret key
base.py              the interface of a sketch
hashing.py           hashes of shingles
minhash.py           the default sketch
sketches.py          the other sketches
fingerprint.py       fingerprints of texts
packed.py            fingerprints of many texts as a few arrays
long_text.py         fingerprints of long texts, in bounded memory
tokens.py            encoding of tokens as text
terms.py             terms of an engine's own `min_hash` filter
estimate.py          estimated overlap and its confidence interval
winnow.py            passage tokens
word_pairs.py        hashes of pairs of adjacent words
simhash.py           a 64-bit number for a set of features
sentences.py         simhashes of sentences
concepts.py          concepts of paragraphs
hamming_search.py    search for numbers that differ in few bits
settings.py          settings of the fingerprints of an index
stored_sketches.py   the stored form of sketches
token_kinds.py       passage, sentence and concept tokens of an index
thresholds.py        thresholds for similar sentences and versions
"""

from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints, overlap_of_tokens, shingle_token_ids
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.winnow import PassageSettings

__all__ = [
    "Fingerprint",
    "HashKey",
    "MinHash",
    "PassageSettings",
    "fingerprints",
    "overlap_of_tokens",
    "shingle_token_ids",
]
