"""Makes texts that look like prose and are the same on every machine. Pairs of texts can have any overlap."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from simdoc_search import Document

_SYLLABLES = [first + last for first in "bdfgklmnprstv" for last in ("a", "e", "i", "o", "u", "ar", "en", "is")]
_SHINGLE = 5  # words of a shingle, as `overlapping` assumes


def _vocabulary(size: int) -> list[str]:
    rng = random.Random("vocabulary")
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(rng.choices(_SYLLABLES, k=rng.choice([1, 2, 2, 3, 3, 4])))] = None
    return sorted(words, key=len)


_WORDS = _vocabulary(6000)
_WEIGHTS = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(_WORDS))))  # a few words are most of a text


def text(rng: random.Random, words: int) -> str:
    """Return sentences and paragraphs with this number of words."""
    return _prose(rng, rng.choices(_WORDS, cum_weights=_WEIGHTS, k=words))


def overlapping(rng: random.Random, words: int, overlap: float) -> tuple[str, str]:
    """Return two texts whose shingles have about this Jaccard similarity. The first has about `words` words.

    Common passages alternate with other passages, and the texts differ in length.
    """
    passages = rng.randint(1, max(1, words // 200))
    lost = (_SHINGLE - 1) * passages  # a passage has this number of shingles less than words
    longer = rng.uniform(1, 1 + (1 / overlap - 1) / 2)  # additional share of words of the other text
    # overlap = shared / (words + longer * words - shared), counted in shingles
    shared = round(overlap * (1 + longer) * (words - _SHINGLE + 1) / (1 + overlap))
    common = [_sample(rng, size) for size in _cut(rng, min(words, shared + lost), passages)]
    length = sum(map(len, common))
    others = (max(0, words - length), max(0, round(longer * words) - length))
    first, second = ([_sample(rng, size) for size in _cut(rng, own, passages + 1)] for own in others)
    return _woven(rng, first, common), _woven(rng, second, common)


def documents(seed: object, count: int, words: int = 60) -> list[Document]:
    """Return this number of documents. No two of them are similar."""
    rng = random.Random(str(seed))
    return [Document(f"doc{number}", text(rng, words)) for number in range(count)]


def distinct_words(count: int, seed: int) -> list[str]:
    """Return distinct random words. Few of them are in the list of another seed."""
    return [f"w{number}" for number in random.Random(seed).sample(range(100_000), count)]


def _sample(rng: random.Random, words: int) -> list[str]:
    return rng.choices(_WORDS, cum_weights=_WEIGHTS, k=words)


def _cut(rng: random.Random, total: int, parts: int) -> Iterator[int]:
    """Return random sizes of this number of parts."""
    ends = [0, *sorted(rng.randint(0, total) for _ in range(parts - 1)), total]
    return (end - start for start, end in itertools.pairwise(ends))


def _woven(rng: random.Random, own: list[list[str]], common: list[list[str]]) -> str:
    passages = itertools.chain.from_iterable(itertools.zip_longest(own, common, fillvalue=[]))
    return _prose(rng, list(itertools.chain.from_iterable(passages)))


def _prose(rng: random.Random, words: list[str]) -> str:
    """Return words with capitals, punctuation and paragraphs. They do not change the shingles."""
    written: list[str] = []
    rest = iter(words)
    while sentence := list(itertools.islice(rest, rng.randint(4, 24))):
        comma = rng.randrange(len(sentence))
        sentence[comma] += "," if comma < len(sentence) - 1 else ""
        written.append(" ".join(sentence).capitalize() + rng.choice("...?!;") + rng.choice("   \n"))
    return "".join(written)
