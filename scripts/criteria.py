"""Which way finds what? The criteria table of Fowke, Hinze, Heese 2013 (figure 7), measured instead of judged.

    python scripts/criteria.py FAMILIES FOLDER [EDITED]

FAMILIES is a table with the columns `id` and `family` (tab between them), FOLDER has the documents. For each of them it
is asked which others are of its family: by fingerprints (overlap of at least a half, verified), passage tokens
(containment of at least a half, either way), simhashes of sentences (`versions`), word frequencies (cosine of at least
0.9, as the paper describes them and with all pairs compared) and simhashes of concepts (`related`).

With EDITED, a number, so many documents of different families are edited in each of several ways instead, and it is
asked which way still finds the original.
"""

from __future__ import annotations

import csv
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from simdoc_search import Document, Settings, SimdocError, SimilaritySearch, open_store
from simdoc_search.chunks import sentence_spans
from simdoc_search.concepts import extractor_from_settings
from simdoc_search.corpus import read_corpus
from simdoc_search.sketch.concepts import PARAGRAPH_END, ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings

OVERLAP = 0.5
COSINE = 0.9
EVERYTHING = 1_000

Answer = tuple[set[str], int]
"""The documents that are found, and with how many the source was compared."""


def main() -> None:
    """Print one table."""
    with Path(sys.argv[1]).open(newline="") as file:
        family = {row["id"]: row["family"] for row in csv.DictReader(file, delimiter="\t")}
    documents = [each for each in load(sys.argv[2]) if each.id in family]
    if len(sys.argv) > 3:
        by_edits(documents, family, int(sys.argv[3]))
    else:
        by_families(documents, family)


def load(folder: str) -> Iterator[Document]:
    """The documents of a folder."""
    store = open_store(":memory:")
    SimilaritySearch(store).index(read_corpus([folder]))
    return (Document(each.id, each.text or "") for each in store.scan(load={"text"}))


def indexed(documents: Iterable[Document]) -> SimilaritySearch:
    """A search over documents with all that an index can have."""
    settings = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
    search = SimilaritySearch(open_store(":memory:", settings))
    search.index(documents, extractor=extractor_from_settings(ConceptSettings(), None))
    return search


# --- the ways ---


class Ways:
    """Each way to find documents, over the same ones."""

    def __init__(self, documents: list[Document]) -> None:
        self.search = indexed(documents)
        self.frequencies = Frequencies(documents)
        self.all: dict[str, Callable[[str], Answer]] = {
            "fingerprints": self.fingerprints,
            "passage tokens": self.passages,
            "sentence simhashes": self.sentences,
            "word frequencies": self.frequencies.near,
            "concept simhashes": self.concepts,
        }

    def fingerprints(self, id: str) -> Answer:
        """Overlap of at least a half."""
        found = self.search.similar(id, overlap=OVERLAP, size=EVERYTHING)
        return {each.id for each in found.hits}, found.candidate_count

    def passages(self, id: str) -> Answer:
        """Half of one in the other."""
        found: set[str] = set()
        compared = 0
        for measure in ("containment", "reverse_containment"):
            answer = self.search.similar(id, overlap=OVERLAP, measure=measure, size=EVERYTHING)
            found |= {each.id for each in answer.hits}
            compared = max(compared, answer.candidate_count)
        return found, compared

    def sentences(self, id: str) -> Answer:
        """Versions."""
        answer = self.search.versions(id, size=EVERYTHING)
        return {each.id for each in answer.hits}, answer.compared_count

    def concepts(self, id: str) -> Answer:
        """Related documents, versions among them."""
        answer = self.search.related(id, size=EVERYTHING)
        return {each.id for each in answer.hits}, answer.compared_count

    def bytes(self) -> dict[str, float]:
        """What each way keeps of a document, on average."""
        records = list(self.search.store.scan(load={"passages", "sentences", "concepts"}))
        concepts = sum(int((each.concepts != PARAGRAPH_END).sum()) for each in records)
        sizes = {
            "fingerprints": 3 * sum(len(each.token_ids) for each in records),
            "passage tokens": 4 * sum(len(each.passages) for each in records),
            "sentence simhashes": 2 * sum(len(each.sentences) for each in records),
            "word frequencies": self.frequencies.bytes,
            "concept simhashes": 4 * concepts,
        }
        return {name: size / len(records) for name, size in sizes.items()}


class Frequencies:
    """Documents as the frequencies of their words."""

    def __init__(self, documents: list[Document]) -> None:
        self.ids = [each.id for each in documents]
        counts = [Counter(each.text.lower().split()) for each in documents]
        words = {word: at for at, word in enumerate(set().union(*counts))}
        self.bytes = sum(len(word) + 1 for each in counts for word in each)  # as the paper counts: figure 9
        self.rows = np.zeros((len(documents), len(words)), np.float32)
        for row, each in zip(self.rows, counts, strict=True):
            row[[words[word] for word in each]] = list(each.values())
        self.rows /= np.maximum(np.linalg.norm(self.rows, axis=1, keepdims=True), 1e-9)

    def near(self, id: str) -> Answer:
        """Cosine of at least 0.9."""
        at = self.ids.index(id)
        cosines = self.rows @ self.rows[at]
        return {self.ids[each] for each in np.flatnonzero(cosines >= COSINE) if each != at}, len(self.ids) - 1


# --- families ---


def by_families(documents: list[Document], family: dict[str, str]) -> None:
    """One row for each way."""
    ways = Ways(documents)
    sizes = ways.bytes()
    ids = [each.id for each in documents]
    members = Counter(family[id] for id in ids)
    relevant = sum(members[family[id]] - 1 for id in ids)
    print(f"{len(ids)} documents, {len(members)} families, {relevant} pairs to find")
    print(f"{'way':<20}{'recall':>8}{'precision':>11}{'bytes/doc':>11}{'compared':>10}{'ms':>8}")
    for name, way in ways.all.items():
        right = found = compared = 0
        began = time.perf_counter()
        for id in ids:
            answer, looked_at = tolerant(way, id)
            right += sum(family[each] == family[id] for each in answer)
            found += len(answer)
            compared += looked_at
        spent = 1000 * (time.perf_counter() - began) / len(ids)
        precision = right / found if found else 1.0
        print(f"{name:<20}{right / relevant:>8.3f}{precision:>11.3f}{sizes[name]:>11.0f}"
              f"{compared / len(ids):>10.1f}{spent:>8.1f}", flush=True)  # fmt: skip


def tolerant(way: Callable[[str], Answer], id: str) -> Answer:
    """What a way finds; nothing where the document has nothing to ask with."""
    try:
        return way(id)
    except SimdocError:
        return set(), 0


# --- edits ---


def by_edits(documents: list[Document], family: dict[str, str], count: int) -> None:
    """One row for each edit: how many originals each way finds, and how many others."""
    first = {family[each.id]: each for each in reversed(documents)}
    originals = random.Random(1).sample(sorted(first.values(), key=lambda each: each.id), min(count, len(first)))
    vocabulary = [word for each in originals for word in each.text.split()]
    others = [each.text for each in documents if each not in originals]
    print(f"{len(originals)} documents, each edited; the share of originals that is found, and wrong hits of all")
    for number, (name, edit) in enumerate(EDITS.items()):
        chance = random.Random(number)
        edited = [Document(f"edited {each.id}", edit(each.text, chance, vocabulary, others)) for each in originals]
        ways = Ways([*originals, *edited])
        if not number:
            print(f"{'edit':<32}" + "".join(f"{way:>20}" for way in ways.all))
        row = f"{name:<32}"
        for way in ways.all.values():
            answers = [tolerant(way, f"edited {each.id}")[0] for each in originals]
            right = sum(each.id in found for each, found in zip(originals, answers, strict=True))
            wrong = sum(map(len, answers)) - right
            row += f"{100 * right / len(originals):>14.0f} % {wrong:>3}"
        print(row, flush=True)


def in_each_sentence(words: int, text: str, chance: random.Random, vocabulary: list[str], _: list[str]) -> str:
    """So many words of each sentence are others."""
    done = []
    for sentence in sentences(text):
        some = sentence.split()
        for _time in range(words):
            some[chance.randrange(len(some))] = chance.choice(vocabulary)
        done.append(" ".join(some))
    return "\n\n".join(done)


def a_word_in(every: int, text: str, chance: random.Random, vocabulary: list[str], _: list[str]) -> str:
    """One of so many words is another, wherever it stands."""
    lines = [line.split() for line in text.split("\n")]
    return "\n".join(
        " ".join(chance.choice(vocabulary) if chance.random() * every < 1 else word for word in line) for line in lines
    )


def shuffled(text: str, chance: random.Random, *_: object) -> str:
    """The same sentences in another order."""
    some = sentences(text)
    chance.shuffle(some)
    return "\n\n".join(some)


def turned(text: str, *_: object) -> str:
    """In each sentence the second half comes first."""
    halves = (each.split() for each in sentences(text))
    return "\n\n".join(" ".join([*words[len(words) // 2 :], *words[: len(words) // 2]]) for words in halves)


def added(times: float, text: str, chance: random.Random, _: list[str], others: list[str]) -> str:
    """Paragraphs of other documents before, between and after, so many times as much."""
    paragraphs = text.split("\n\n")
    size = len(text) * (1 + times)
    while sum(map(len, paragraphs)) < size:
        more = chance.choice(chance.choice(others).split("\n\n"))
        paragraphs.insert(chance.randrange(len(paragraphs) + 1), more)
    return "\n\n".join(paragraphs)


def kept(share: float, text: str, chance: random.Random, *_: object) -> str:
    """A share of the sentences, each left out or not."""
    return "\n\n".join(each for each in sentences(text) if chance.random() < share)


def sentences(text: str) -> list[str]:
    """Those of a text that have a word."""
    return [text[slice(*span)] for span in sentence_spans(text) if text[slice(*span)].split()]


EDITS: dict[str, Callable[..., str]] = {
    "none": lambda text, *_: text,
    "sentences in another order": shuffled,
    "halves of sentences swapped": turned,
    "a word of each sentence": partial(in_each_sentence, 1),
    "two words of each sentence": partial(in_each_sentence, 2),
    "one word of ten": partial(a_word_in, 10),
    "one word of five": partial(a_word_in, 5),
    "half of the sentences left out": partial(kept, 0.5),
    "four fifths left out": partial(kept, 0.2),
    "as much again added": partial(added, 1),
    "four times as much added": partial(added, 4),
}


if __name__ == "__main__":
    main()
