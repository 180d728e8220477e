"""Which representation of a sentence tells edited sentences from others? A trial on the texts of a folder.

    python scripts/sentence_trial.py CORPUS ... [--pairs 4000000]

Of some sentences of the files one or two words are edited: replaced by a word of another sentence, left out, or
followed by one (a third each). Recall is the share of edited sentences within some bits of what they were. The false
rate is the share of random pairs of sentences from different files that are as near; pairs that share a third of their
words count as neither.
Last come the three pairs of sentences of Fowke, Hinze, Heese 2013, section 5.1.1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.words import words
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import Simhashes, distances, simhashes

PAPER_PAIRS = (
    ("Tiger Woods and his wife, Elin Nordegren, are reportedly divorced.",
     "Tiger Woods has reportedly divorced his wife Elin Nordegren."),
    ("According to their lawyers it became official in Bay County Circuit Court on Monday.",
     "According to their lawyers it was done officially on Monday in Bay County Circuit Court."),
    ('Woods and Nordegren have already commented on their divorce: "We are sad that our marriage is over and we wish '
     'each other the very best for the future."',
     'Woods and Nordegren commented already on their unfortunate divorce: "We are sad that our marriage is over and we '
     'wish each other the very best for the future."'),
)  # fmt: skip
LEAST_WORDS, MOST_SENTENCES, EDITED = 5, 60_000, 8_000
ALIKE = 1 / 3

Features = Callable[[str], set[str]]


def letters(*lengths: int) -> Features:
    """Runs of so many letters, with one space between words and around them."""

    def features(text: str) -> set[str]:
        padded = f" {text} "
        return {padded[at : at + length] for length in lengths for at in range(len(padded) - length + 1)}

    return features


def whole_words(text: str) -> set[str]:
    """Its words."""
    return {f"word {each}" for each in text.split()}


REPRESENTATIONS: dict[str, Features | None] = {
    "as an index has it": None,
    "letter pairs": letters(2),
    "letter triples": letters(3),
    "runs of 4 letters": letters(4),
    "pairs and triples": letters(2, 3),
    "triples and fours": letters(3, 4),
    "words": whole_words,
    "triples and words": lambda text: letters(3)(text) | whole_words(text),
}


@cache
def hashed(feature: str) -> int:
    """A feature as 64 bits."""
    return int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def numbers_of(sentences: Sequence[str], features: Features | None) -> Simhashes:
    """The simhash of each sentence."""
    if features is None:
        values, kept = sentence_simhashes(sentences, Analysis())
        found = np.zeros(len(sentences), np.uint64)
        found[kept] = values
        return found
    of_each = [features(" ".join(words(each))) for each in sentences]
    hashes = np.fromiter((hashed(each) for some in of_each for each in some), np.uint64)
    return simhashes(hashes, np.array([len(each) for each in of_each], np.int64))


def sentences_in(folders: Sequence[Path], chance: random.Random) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct sentences of enough words, and which file each is of."""
    found: dict[str, int] = {}
    for number, path in enumerate(sorted(each for folder in folders for each in folder.rglob("*") if each.is_file())):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for begin, end in sentence_spans(text):
            sentence = " ".join(text[begin:end].split())
            if len(sentence.split()) >= LEAST_WORDS and len(re.findall(r"[^\W\d_]{2,}", sentence)) >= LEAST_WORDS:
                found.setdefault(sentence, number)
    chosen = chance.sample(sorted(found), min(len(found), MOST_SENTENCES))
    return chosen, np.array([found[each] for each in chosen])


def edited(sentence: str, times: int, pool: Sequence[str], chance: random.Random) -> str:
    """A sentence of which so many words are replaced, left out or added."""
    its = sentence.split()
    for place in chance.sample(range(len(its)), times):
        how = chance.choice(("replace", "leave out", "add"))
        word = chance.choice(pool)
        its[place] = {"replace": word, "leave out": "", "add": f"{its[place]} {word}"}[how]
    return " ".join(its)


def unlike(
    sentences: Sequence[str], files: NDArray[np.int64], pairs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random pairs of sentences of different files."""
    generator = np.random.default_rng(1)
    a, b = generator.integers(0, len(sentences), (2, pairs))
    kept = files[a] != files[b]
    return a[kept], b[kept]


def shared_words(a: str, b: str) -> float:
    """The share of the words of both that both have."""
    one, other = (set(re.findall(r"\w+", each.lower())) for each in (a, b))
    return len(one & other) / max(1, len(one | other))


def main() -> None:
    """One table for each representation: bits, recall for one and two words, false rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    given = parser.parse_args()
    chance = random.Random(1)
    sentences, files = sentences_in(given.folders, chance)
    pool = [word for each in chance.sample(sentences, min(2000, len(sentences))) for word in each.split()]
    some = chance.sample(sentences, min(EDITED, len(sentences)))
    changed = [[edited(each, times, pool, chance) for each in some] for times in (1, 2)]
    a, b = unlike(sentences, files, given.pairs)
    print(f"{len(sentences):,} sentences of {len(set(files.tolist())):,} files, {len(a):,} pairs", flush=True)
    for name, features in REPRESENTATIONS.items():
        all_of_them = numbers_of(sentences, features)
        base, *edits = (numbers_of(each, features) for each in (some, *changed))
        recall = [np.cumsum(np.bincount(distances(base, each), minlength=65)) / len(some) for each in edits]
        bits = distances(all_of_them[a], all_of_them[b])
        for place in np.flatnonzero(bits <= 20).tolist():
            if shared_words(sentences[a[place]], sentences[b[place]]) >= ALIKE:
                bits[place] = 64
        false = np.cumsum(np.bincount(bits, minlength=65)) / len(a)
        pairs = [int(distances(*(numbers_of([each], features) for each in pair))[0]) for pair in PAPER_PAIRS]
        print(f"\n{name}: the paper's pairs differ in {pairs} bits")
        for most in range(5, 16):
            print(
                f"{most:>5} bits  one word {recall[0][most]:.3f}  two {recall[1][most]:.3f}  false {false[most]:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
