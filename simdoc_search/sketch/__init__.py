"""What is kept of a text: shingles to fingerprint to tokens.

murmur3.py      how is a shingle hashed?
minhash.py      which hashes are kept?
long_text.py    what if the text is too long to be handled whole?
fingerprint.py  text to Fingerprint
tokens.py       how is it written into an index?
estimate.py     how much do two fingerprints overlap?
settings.py     what must an index remember?
"""

from simdoc_search.sketch.estimate import overlap_of_tokens
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint, fingerprints
from simdoc_search.sketch.minhash import MinHash

__all__ = ["Fingerprint", "MinHash", "fingerprint", "fingerprints", "overlap_of_tokens"]
