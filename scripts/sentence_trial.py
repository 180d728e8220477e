"""Compares simhashes of sentences made from different features: how well do they find edited sentences?

    python scripts/sentence_trial.py CORPUS ... [--pairs 4000000]

Each CORPUS is a folder of texts. One or two words of some sentences are edited. An edited word is removed, replaced by
a word of another sentence, or followed by one. Two sentences are found if their simhashes differ in at most N bits.
Recall is the share of edited sentences that are found. The false rate is the share of random pairs of sentences from
different files that are found, without pairs that share a third of their words.
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
from simdoc_search.sketch.simhash import Simhashes, hamming_distances, simhashes

MIN_WORDS, MAX_SENTENCES, EDITED_SENTENCES = 5, 60_000, 8_000
MAX_SHARED_WORDS = 1 / 3

Features = Callable[[str], set[str]]


def letter_runs(*lengths: int) -> Features:
    """Return a function that returns the runs of these many characters, with one space around each word."""

    def features(text: str) -> set[str]:
        padded = f" {text} "
        return {padded[start : start + length] for length in lengths for start in range(len(padded) - length + 1)}

    return features


FEATURES: dict[str, Features | None] = {
    "as in an index": None,
    "letter pairs": letter_runs(2),
    "letter triples": letter_runs(3),
    "triples and fours": letter_runs(3, 4),
    "words": lambda text: set(text.split()),
}


@cache
def feature_hash(feature: str) -> int:
    """Return a hash of 64 bits of a feature."""
    return int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def simhashes_of(sentences: Sequence[str], features: Features | None) -> Simhashes:
    """Return the simhash of each sentence."""
    if features is None:
        values, indices = sentence_simhashes(sentences, Analysis())
        result = np.zeros(len(sentences), np.uint64)
        result[indices] = values
        return result
    feature_sets = [features(" ".join(words(sentence))) for sentence in sentences]
    hashes = np.fromiter((feature_hash(feature) for features in feature_sets for feature in features), np.uint64)
    return simhashes(hashes, np.array(list(map(len, feature_sets)), np.int64))


def read_sentences(folders: Sequence[Path], generator: random.Random) -> tuple[list[str], NDArray[np.int64]]:
    """Return different sentences with enough words, and for each the number of its file."""
    file_numbers: dict[str, int] = {}
    for number, path in enumerate(sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for begin, end in sentence_spans(text):
            sentence = " ".join(text[begin:end].split())
            if min(len(sentence.split()), len(re.findall(r"[^\W\d_]{2,}", sentence))) >= MIN_WORDS:
                file_numbers.setdefault(sentence, number)
    sample = generator.sample(sorted(file_numbers), min(len(file_numbers), MAX_SENTENCES))
    return sample, np.array([file_numbers[sentence] for sentence in sample])


def edit(sentence: str, edits: int, vocabulary: Sequence[str], generator: random.Random) -> str:
    """Return a sentence with this many words replaced, removed or added."""
    edited = sentence.split()
    for index in generator.sample(range(len(edited)), edits):
        word = generator.choice(vocabulary)
        edited[index] = generator.choice((word, "", f"{edited[index]} {word}"))
    return " ".join(edited)


def shared_words(a: str, b: str) -> float:
    """Return the Jaccard similarity of the words of two sentences."""
    words_a, words_b = (set(re.findall(r"\w+", text.lower())) for text in (a, b))
    return len(words_a & words_b) / max(1, len(words_a | words_b))


def main() -> None:
    """Print a table for each kind of features: bits, recall for one and two edited words, false rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    options = parser.parse_args()
    generator = random.Random(1)
    sentences, files = read_sentences(options.folders, generator)
    sample = generator.sample(sentences, min(2000, len(sentences)))
    vocabulary = [word for sentence in sample for word in sentence.split()]
    originals = generator.sample(sentences, min(EDITED_SENTENCES, len(sentences)))
    edited = [[edit(sentence, edits, vocabulary, generator) for sentence in originals] for edits in (1, 2)]
    a, b = np.random.default_rng(1).integers(0, len(sentences), (2, options.pairs))
    a, b = a[files[a] != files[b]], b[files[a] != files[b]]
    print(f"{len(sentences):,} sentences of {len(set(files.tolist())):,} files, {len(a):,} pairs", flush=True)
    for name, features in FEATURES.items():
        hashes = simhashes_of(sentences, features)
        of_originals, *of_edited = (simhashes_of(texts, features) for texts in (originals, *edited))
        recall = [
            np.cumsum(np.bincount(hamming_distances(of_originals, values), minlength=65)) / len(originals)
            for values in of_edited
        ]
        bits = hamming_distances(hashes[a], hashes[b])
        for index in np.flatnonzero(bits <= 20).tolist():
            if shared_words(sentences[a[index]], sentences[b[index]]) >= MAX_SHARED_WORDS:
                bits[index] = 64
        false_rate = np.cumsum(np.bincount(bits, minlength=65)) / len(a)
        print(f"\n{name}")
        for limit in range(5, 16):
            recalls = f"one word {recall[0][limit]:.3f}  two {recall[1][limit]:.3f}"
            print(f"{limit:>5} bits  {recalls}  false {false_rate[limit]:.1e}", flush=True)


if __name__ == "__main__":
    main()
