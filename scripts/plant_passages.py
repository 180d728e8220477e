"""Plants passages in documents, at known places. Programs that find reused passages are measured on them.

    python scripts/plant_passages.py OUT CORPUS... [--pairs 100] [--kind verbatim --kind clean] [--seed 0]
    python scripts/plant_passages.py OUT CORPUS... --excerpts 8 35 --documents 1000 40000 [--pairs 1000]

A CORPUS is a folder of English texts (.txt, .md) or one text. Of several versions of a document only the first is
used. A paragraph that shares a run of 6 words with an earlier one is left out. The documents then share only what is
planted. OUT must not exist. It gets the folders suspicious/ and sources/, and truth.jsonl with one line per passage:

    {"suspicious": "NAME", "source": "NAME", "kind": "KIND", "a": [START, END], "b": [START, END]}

a is the place in the suspicious document, and b the place in the source, in characters of the file (UTF-8, line breaks
unchanged). With --pairs N there are N pairs of each kind:

    verbatim                       copied word for word; half of the passages have other line breaks
    shuffled-low, shuffled-high    pieces of some words changed places, and some words were replaced
    reworded-low, reworded-high    words were replaced, left out and inserted
    paraphrased                    the same to a higher degree
    shortened                      half of the sentences were left out
    inserted                       20 to 60 words of the author interrupt the passages
    several                        the text also has passages of another source, which must not be found
    clean                          nothing is planted, and a and b are null

A pair has 1 to 3 passages of 50 to 2,000 words, in documents of 500 to 10,000 words or more. The logarithms of all
lengths are uniformly distributed. With --excerpts, each suspicious document is a run of words of a source. The same
arguments write the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.passages.planting import Material, Pair, Span, log_uniform, plant, word_places
from tests.support.passages.rewording import KINDS as CHANGED
from tests.support.passages.rewording import changed

CLEAN, EXCERPT, INSERTED, SEVERAL, VERBATIM = "clean", "excerpt", "inserted", "several", "verbatim"
KINDS = (*CHANGED, INSERTED, SEVERAL, CLEAN)
PASSAGE_WORDS, DOCUMENT_WORDS, SPARE = (50, 2_000), (500, 10_000), 1.2
MIN_PART_WORDS = 25
"""Words of the shortest part of an interrupted passage."""


def main() -> None:
    """Write the folders and the truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of each kind")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--excerpts", type=int, nargs=2, metavar=("SHORTEST", "LONGEST"), help="numbers of words")
    parser.add_argument("--documents", type=int, nargs=2, default=DOCUMENT_WORDS, metavar=("SHORTEST", "LONGEST"))
    parser.add_argument("--seed", default="0")
    arguments = parser.parse_args()
    material = read_material(arguments.corpus, arguments.seed)
    print(f"{material.words:,} words of material")
    lengths = tuple(arguments.documents)
    if arguments.excerpts:
        pairs = excerpted(material, arguments.pairs, tuple(arguments.excerpts), lengths, arguments.seed)
    else:
        pairs = planted(material, arguments.pairs, arguments.kind or KINDS, lengths, arguments.seed)
    print(f"{write(arguments.out, pairs)} pairs in {arguments.out}")


def read_material(corpora: list[Path], seed: str) -> Material:
    """The texts of the corpora, in a random order."""
    files = [
        file
        for corpus in corpora
        for file in (sorted(corpus.rglob("*")) if corpus.is_dir() else [corpus])
        if file.suffix in (".txt", ".md")
    ]
    random.Random(seed).shuffle(files)
    return Material(file.read_text("utf-8", "replace") for file in files)


def planted(
    material: Material, count: int, kinds: Sequence[str], documents: tuple[int, int], seed: str
) -> Iterator[tuple[str, Pair]]:
    """Pairs of each kind. Hosts and sources are from different halves of the material."""
    vocabulary = material.vocabulary
    hosts, sources = material.halves(random.Random(seed))
    for kind in kinds:
        for number in range(count):
            rng = random.Random(f"{seed} {kind} {number}")
            lengths = [] if kind == CLEAN else [log_uniform(rng, *PASSAGE_WORDS) for _ in range(rng.randint(1, 3))]
            needed = round(SPARE * sum(lengths)) + 100 * len(lengths)
            host = hosts.text(rng, max(DOCUMENT_WORDS[0], log_uniform(rng, *documents)))
            others, own = sources.halves(rng) if kind == SEVERAL else (sources, sources)
            source = own.text(rng, max(needed, log_uniform(rng, *documents)))
            if kind == SEVERAL:
                host = plant(rng, host, others.text(rng, needed), lengths, str).suspicious
            change = VERBATIM if kind in (INSERTED, SEVERAL) else kind
            pair = plant(rng, host, source, lengths, partial(changed, rng, change, vocabulary))
            yield kind, interrupted(rng, pair, partial(hosts.text, rng)) if kind == INSERTED else pair


def excerpted(
    material: Material, count: int, words: tuple[int, int], documents: tuple[int, int], seed: str
) -> Iterator[tuple[str, Pair]]:
    """Runs of words, each from another document."""
    for number in range(count):
        rng = random.Random(f"{seed} {EXCERPT} {number}")
        length = log_uniform(rng, *words)
        source = material.text(rng, max(length, log_uniform(rng, *documents)))
        yield from ((EXCERPT, pair) for pair in excerpts(rng, source, [length]))


def excerpts(rng: random.Random, source: str, lengths: Iterable[int]) -> list[Pair]:
    """Runs of successive words of a source, each as a text. A long run is the whole source."""
    places, pairs = word_places(source), []
    for length in lengths:
        words = min(length, len(places))
        start = rng.randint(0, len(places) - words)
        b = places[start][0], places[start + words - 1][1]
        text = source[b[0] : b[1]]
        pairs.append(Pair(text, source, (((0, len(text)), b),)))
    return pairs


def interrupted(rng: random.Random, pair: Pair, own: Callable[[int], str]) -> Pair:
    """A pair whose longer passages are interrupted by 20 to 60 words of the author. Each part is a passage.

    Args:
        rng: The source of randomness.
        pair: The pair. Its passages are equal word for word.
        own: Returns a text of at least the given number of words.
    """
    parts: list[str] = []
    spans: list[tuple[Span, Span]] = []
    last = length = 0
    for (begin, end), (other, other_end) in sorted(pair.spans):
        words, others = word_places(pair.suspicious[begin:end]), word_places(pair.source[other:other_end])
        cuts = [(0, 0)]
        if len(words) >= 2 * MIN_PART_WORDS and len(words) == len(others):
            at = rng.randint(MIN_PART_WORDS, len(words) - MIN_PART_WORDS)
            cuts.append((words[at][0], others[at][0]))
        for number, (start, other_start) in enumerate(cuts):
            is_last = number == len(cuts) - 1
            stop = end if is_last else begin + words[at - 1][1]
            other_stop = other_end if is_last else other + others[at - 1][1]
            if number:
                wanted = rng.randint(20, 60)
                text = own(wanted)
                inserted = " " + text[: word_places(text)[:wanted][-1][1]] + " "
                parts.append(inserted)
                length += len(inserted)
                last = begin + start
            piece = pair.suspicious[last:stop]
            place = length + begin + start - last
            parts.append(piece)
            length += len(piece)
            spans.append(((place, length), (other + other_start, other_stop)))
            last = stop
    return Pair("".join([*parts, pair.suspicious[last:]]), pair.source, tuple(spans))


def write(out: Path, pairs: Iterator[tuple[str, Pair]]) -> int:
    """Write the pairs, and return their number."""
    (out / "suspicious").mkdir(parents=True)
    (out / "sources").mkdir()
    number = 0
    with (out / "truth.jsonl").open("w", encoding="utf-8") as truth:
        for number, (kind, pair) in enumerate(pairs, 1):
            names = {"suspicious": f"suspicious-document{number:05}.txt", "source": f"source-document{number:05}.txt"}
            (out / "suspicious" / names["suspicious"]).write_bytes(pair.suspicious.encode())
            (out / "sources" / names["source"]).write_bytes(pair.source.encode())
            for a, b in pair.spans or [(None, None)]:
                truth.write(json.dumps({**names, "kind": kind, "a": a, "b": b}) + "\n")
    return number


if __name__ == "__main__":
    main()
