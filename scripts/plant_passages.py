"""Plants passages of known places in documents: a measuring ground for what finds reused passages.

    python scripts/plant_passages.py OUT CORPUS... [--pairs 100] [--kind verbatim --kind clean] [--seed 0]
    python scripts/plant_passages.py OUT CORPUS... --excerpts 8 35 --documents 1000 40000 [--pairs 1000]

A CORPUS is a folder of English texts (.txt, .md) or one of them. Versions of a document are left out, and paragraphs
that share a run of 6 words with an earlier one, so that documents share nothing but what is planted. OUT, which must
not exist, gets the folders suspicious/ and sources/ and the file truth.jsonl, one line for each passage:

    {"suspicious": "NAME", "source": "NAME", "kind": "KIND", "a": [START, END], "b": [START, END]}

where a is its place in the suspicious document, b in the source, in characters of the file as it is (UTF-8, line
breaks not translated). With --pairs N there are N pairs of each kind:

    verbatim                       copied word for word; half of them with other line breaks
    shuffled-low, shuffled-high    pieces of some words changed places, and some words were replaced
    reworded-low, reworded-high    words were replaced, left out and inserted
    paraphrased                    the same to a degree at which little stays
    shortened                      half of the sentences were left out
    inserted                       the author interrupts the passages with 20 to 60 words of his own
    several                        the text has passages of another source too, which are not to be found
    clean                          nothing is planted, and a and b are null

A pair has 1 to 3 passages of 50 to 2,000 words, in documents of 500 to 10,000 and more; all lengths are drawn by order
of size. With --excerpts each suspicious document is a run of words of a source and nothing else. The same arguments
write the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.passages.planting import Material, Pair, excerpts, interrupted, log_uniform, plant
from tests.support.passages.rewording import KINDS as CHANGED
from tests.support.passages.rewording import changed

CLEAN, EXCERPT, INSERTED, SEVERAL, VERBATIM = "clean", "excerpt", "inserted", "several", "verbatim"
KINDS = (*CHANGED, INSERTED, SEVERAL, CLEAN)
PASSAGE, DOCUMENT, SPARE = (50, 2_000), (500, 10_000), 1.2


def main() -> None:
    """Write the folders and the truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=100, help="of each kind")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--excerpts", type=int, nargs=2, metavar=("SHORTEST", "LONGEST"), help="words; no hosts then")
    parser.add_argument("--documents", type=int, nargs=2, default=DOCUMENT, metavar=("SHORTEST", "LONGEST"))
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    material = read_material(given.corpus, given.seed)
    print(f"{material.words:,} words of material")
    lengths = tuple(given.documents)
    if given.excerpts:
        pairs = excerpted(material, given.pairs, tuple(given.excerpts), lengths, given.seed)
    else:
        pairs = planted(material, given.pairs, given.kind or KINDS, lengths, given.seed)
    print(f"{write(given.out, pairs)} pairs in {given.out}")


def read_material(corpora: list[Path], seed: str) -> Material:
    """What the corpora have, each paragraph once."""
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
    """So many pairs of each kind; hosts and sources are from different halves of the material."""
    vocabulary = material.vocabulary
    hosts, sources = material.halves(random.Random(seed))
    for kind in kinds:
        for number in range(count):
            rng = random.Random(f"{seed} {kind} {number}")
            lengths = [] if kind == CLEAN else [log_uniform(rng, *PASSAGE) for _ in range(rng.randint(1, 3))]
            room = round(SPARE * sum(lengths)) + 100 * len(lengths)
            host = hosts.text(rng, max(DOCUMENT[0], log_uniform(rng, *documents)))
            others, its = sources.halves(rng) if kind == SEVERAL else (sources, sources)
            source = its.text(rng, max(room, log_uniform(rng, *documents)))
            if kind == SEVERAL:
                host = plant(rng, host, others.text(rng, room), lengths, str).suspicious
            how = VERBATIM if kind in (INSERTED, SEVERAL) else kind
            pair = plant(rng, host, source, lengths, partial(changed, rng, how, vocabulary))
            yield kind, interrupted(rng, pair, partial(hosts.text, rng)) if kind == INSERTED else pair


def excerpted(
    material: Material, count: int, words: tuple[int, int], documents: tuple[int, int], seed: str
) -> Iterator[tuple[str, Pair]]:
    """So many runs of words, each from a document of its own."""
    for number in range(count):
        rng = random.Random(f"{seed} {EXCERPT} {number}")
        length = log_uniform(rng, *words)
        source = material.text(rng, max(length, log_uniform(rng, *documents)))
        yield from ((EXCERPT, pair) for pair in excerpts(rng, source, [length]))


def write(out: Path, pairs: Iterator[tuple[str, Pair]]) -> int:
    """Write the pairs, and return how many there are."""
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
