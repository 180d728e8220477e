"""Plants passages of texts in other texts, at known places, to measure programs that find reused passages.

    python scripts/plant_passages.py OUT CORPUS... [--pairs 100] [--kind verbatim --kind clean] [--seed 0]

A CORPUS is a folder of English texts (.txt, .md) or one text. The documents must share only the planted passages.
Therefore only the first version of a document is used, and a paragraph that shares a run of 6 words with an earlier
paragraph is left out. OUT must not exist. The script makes the folders OUT/suspicious/ and OUT/sources/, and the file
OUT/truth.jsonl with one line for each passage:

    {"suspicious": "NAME", "source": "NAME", "kind": "KIND", "a": [START, END], "b": [START, END]}

`a` is the place in the suspicious document, and `b` the place in the source. Both count characters of the file, which
is UTF-8 with unchanged line breaks. The kinds say how the passages were changed. With --pairs N there are N pairs of
each kind:

    verbatim                       copied word for word; half of the passages have other line breaks
    shuffled-low, shuffled-high    pieces of a few words changed places, and some words were replaced
    reworded-low, reworded-high    words were replaced, left out and inserted
    paraphrased                    the same, but more often
    shortened                      half of the sentences were left out
    inserted                       20 to 60 words of the author interrupt the passages
    several                        the text also has passages of another source, which must not be found
    clean                          nothing is planted, and a and b are null

A pair has 1 to 3 passages of 50 to 2,000 words. A document has 500 to 10,000 words, or more if its passages need them.
The logarithms of all lengths are uniformly distributed. The same arguments write the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.passages.planting import Material, Pair, Span, log_uniform, plant, word_places
from tests.support.passages.rewording import KINDS as CHANGED
from tests.support.passages.rewording import changed

CLEAN, INSERTED, SEVERAL, VERBATIM = "clean", "inserted", "several", "verbatim"
KINDS = (*CHANGED, INSERTED, SEVERAL, CLEAN)
PASSAGE_WORDS, DOCUMENT_WORDS = (50, 2_000), (500, 10_000)
SPARE = 1.2
"""A source has at least this many times the words of its passages."""
MIN_PART_WORDS = 25
"""The minimum number of words of a part of an interrupted passage."""


def main() -> None:
    """Write the texts and truth.jsonl."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of each kind")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--documents", type=int, nargs=2, default=DOCUMENT_WORDS, metavar=("SHORTEST", "LONGEST"))
    parser.add_argument("--seed", default="0")
    arguments = parser.parse_args()
    material = read_material(arguments.corpus, arguments.seed)
    print(f"{material.words:,} words of material")
    lengths = tuple(arguments.documents)
    pairs = planted_pairs(material, arguments.pairs, arguments.kind or KINDS, lengths, arguments.seed)
    print(f"{write(arguments.out, pairs)} pairs in {arguments.out}")


def read_material(corpora: list[Path], seed: str) -> Material:
    """Read the texts of the corpora, in a random order."""
    files = [
        file
        for corpus in corpora
        for file in (sorted(corpus.rglob("*")) if corpus.is_dir() else [corpus])
        if file.suffix in (".txt", ".md")
    ]
    random.Random(seed).shuffle(files)
    return Material(file.read_text("utf-8", "replace") for file in files)


def planted_pairs(
    material: Material, count: int, kinds: Sequence[str], documents: tuple[int, int], seed: str
) -> Iterator[tuple[str, Pair]]:
    """Yield pairs of each kind. The suspicious texts and the sources are from different halves of the material."""
    vocabulary = material.vocabulary
    hosts, sources = material.halves(random.Random(seed))
    for kind in kinds:
        for number in range(count):
            rng = random.Random(f"{seed} {kind} {number}")
            lengths = [] if kind == CLEAN else [log_uniform(rng, *PASSAGE_WORDS) for _ in range(rng.randint(1, 3))]
            min_words = round(SPARE * sum(lengths)) + 100 * len(lengths)
            host = hosts.text(rng, max(DOCUMENT_WORDS[0], log_uniform(rng, *documents)))
            others, own = sources.halves(rng) if kind == SEVERAL else (sources, sources)
            source = own.text(rng, max(min_words, log_uniform(rng, *documents)))
            if kind == SEVERAL:
                host = plant(rng, host, others.text(rng, min_words), lengths, str).suspicious
            change = VERBATIM if kind in (INSERTED, SEVERAL) else kind
            pair = plant(rng, host, source, lengths, partial(changed, rng, change, vocabulary))
            yield kind, interrupt(rng, pair, partial(hosts.text, rng)) if kind == INSERTED else pair


def interrupt(rng: random.Random, pair: Pair, author_text: Callable[[int], str]) -> Pair:
    """Interrupt each long passage with 20 to 60 words of the author. Each of the two parts is then a passage.

    Args:
        rng: The random number generator.
        pair: A pair whose passages are copied word for word.
        author_text: Returns a text of at least the given number of words.
    """
    pieces: list[str] = []
    spans: list[tuple[Span, Span]] = []
    copied = length = 0  # the end of what was copied of the suspicious text, and the length of all pieces
    for (begin, end), (source_begin, source_end) in sorted(pair.spans):
        words = word_places(pair.suspicious[begin:end])
        source_words = word_places(pair.source[source_begin:source_end])
        part_starts = [(0, 0)]
        if len(words) >= 2 * MIN_PART_WORDS and len(words) == len(source_words):
            cut = rng.randint(MIN_PART_WORDS, len(words) - MIN_PART_WORDS)
            part_starts.append((words[cut][0], source_words[cut][0]))
        for number, (start, source_start) in enumerate(part_starts):
            is_last = number == len(part_starts) - 1
            stop = end if is_last else begin + words[cut - 1][1]
            source_stop = source_end if is_last else source_begin + source_words[cut - 1][1]
            if number:
                inserted_words = rng.randint(20, 60)
                text = author_text(inserted_words)
                inserted = " " + text[: word_places(text)[:inserted_words][-1][1]] + " "
                pieces.append(inserted)
                length += len(inserted)
                copied = begin + start
            piece = pair.suspicious[copied:stop]
            part_begin = length + begin + start - copied
            pieces.append(piece)
            length += len(piece)
            spans.append(((part_begin, length), (source_begin + source_start, source_stop)))
            copied = stop
    return Pair("".join([*pieces, pair.suspicious[copied:]]), pair.source, tuple(spans))


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
