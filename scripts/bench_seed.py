"""One document against 12,000, and the nearest of all 12,000, as in the article "LSH for Finding Similar Documents".

    python scripts/bench_seed.py [FOLDER] [SKETCH]

There, the fingerprints of 100 hashes are in memory. The buckets are made in 265 ms, and the similar documents of all
12,000 are looked up in 948 ms, in one thread, without comparing hashes. The documents are those of FOLDER, or of docs/,
repeated with edits until there are 12,000. SKETCH is one of `index --sketch`, or the number of hashes of `xor`. Times
are medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.cli.sketch_options import parse_sketch, with_sketch
from simdoc_search.corpus import Document, read_corpus, read_sources
from simdoc_search.sketch.settings import Settings
from tests.support.edited_copies import edited_copies

DOCUMENTS, OVERLAP, PROBABILITY = 12_000, 0.8, 0.95


def main() -> None:
    """Print one line for each figure."""
    folder, named, *_ = *sys.argv[1:], *("docs", "minhash:128")[len(sys.argv) - 1 :]
    documents = list(islice(repeated(folder), DOCUMENTS))
    sketch = parse_sketch(f"xor:{named}" if named.isdecimal() else named)
    settings = with_sketch(Settings(passages=None), sketch)
    with tempfile.TemporaryDirectory() as folder:
        search = SimilaritySearch(open_store(Path(folder) / "store", settings, create=True, store_texts=False))
        began = time.perf_counter()
        search.index(documents, workers=1)
        print(f"{len(documents):,} documents, {named}, indexed in {time.perf_counter() - began:.1f} s, 1 process")
        ids = [document.id for document in documents]

        def ask(some: list[str]) -> list[object]:
            return list(search.similar_many(some, overlap=OVERLAP, probability=PROBABILITY))

        one = [timed(partial(ask, [id])) for id in ids[:: DOCUMENTS // 200]]
        print(f"one document against all, in the store on disk       {ms(one):>9}    seed: 0.08 (948 / 12,000)")
        everything = timed(partial(ask, ids))
        print(f"all, one query each, in the store on disk            {ms([everything]):>9}    seed: 265 + 948")
        found = [timed(lambda: search.duplicates(overlap=OVERLAP, verify=False)) for _ in range(3)]
        pairs = sum(1 for _ in search.duplicates(overlap=OVERLAP, verify=False).pairs())
        print(
            f"all pairs (duplicates --estimate): read, join, group {ms(found):>9}    seed: 265 + 948; {pairs:,} pairs"
        )


def repeated(folder: str) -> Iterator[Document]:
    """Yield the documents of a folder, then copies with more and more edits."""
    found = [document for _, document in read_sources(read_corpus([folder])) if isinstance(document, Document)]
    yield from found
    texts = {document.id: document.text for document in found}
    for number, overlap in enumerate(cycle((0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05))):
        copies = edited_copies(texts, overlap, number)
        yield from (Document(f"{number} {id}", text) for id, text in copies.items())


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def ms(seconds: list[float]) -> str:
    """Return the median in milliseconds."""
    value = 1000 * statistics.median(seconds)
    return f"{value:,.2f} ms" if value < 100 else f"{value:,.0f} ms"


if __name__ == "__main__":
    main()
