"""Measures searches among 12,000 documents, as in the article "LSH for Finding Similar Documents".

    python scripts/bench_seed.py [FOLDER] [SKETCH]

The script finds the documents similar to one document, those similar to each of the 12,000, and all similar pairs. In
the article, the fingerprints have 100 hashes and are in memory. It fills the buckets in 265 ms, and looks up the
documents similar to each of the 12,000 in 948 ms, in one thread and without comparing hashes.

The documents are those of FOLDER, by default docs/, and edited copies of them, 12,000 in all. SKETCH is a value of
`index --sketch`, or a number of hashes for `xor`. Times are medians.
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
from simdoc_search.cli.index_options import parse_sketch, with_sketch
from simdoc_search.corpus import Document, read_corpus, read_sources
from simdoc_search.sketch.settings import Settings
from tests.support.edited_copies import edited_copies

DOCUMENTS, OVERLAP, PROBABILITY = 12_000, 0.8, 0.95


def main() -> None:
    """Print one line for each measurement."""
    folder, sketch_name, *_ = *sys.argv[1:], *("docs", "minhash:128")[len(sys.argv) - 1 :]
    documents = list(islice(edited_documents(folder), DOCUMENTS))
    sketch = parse_sketch(f"xor:{sketch_name}" if sketch_name.isdecimal() else sketch_name)
    settings = with_sketch(Settings(passages=None), sketch)
    with tempfile.TemporaryDirectory() as folder:
        search = SimilaritySearch(open_store(Path(folder) / "store", settings, create=True, store_texts=False))
        began = time.perf_counter()
        search.index(documents, workers=1)
        print(f"{len(documents):,} documents, {sketch_name}, indexed in {time.perf_counter() - began:.1f} s, 1 process")
        ids = [document.id for document in documents]

        def find(ids: list[str]) -> list[object]:
            return list(search.similar_many(ids, overlap=OVERLAP, probability=PROBABILITY))

        one = milliseconds([timed(partial(find, [id])) for id in ids[:: DOCUMENTS // 200]])
        print(f"similar to one document, store on disk              {one:>9}    article: 0.08 (948 / 12,000)")
        all_documents = milliseconds([timed(partial(find, ids))])
        print(f"similar to each document, store on disk             {all_documents:>9}    article: 265 + 948")
        all_pairs = milliseconds([timed(lambda: search.duplicates(overlap=OVERLAP, verify=False)) for _ in range(3)])
        count = sum(1 for _ in search.duplicates(overlap=OVERLAP, verify=False).pairs())
        print(f"all {count:,} pairs (duplicates --estimate)".ljust(52) + f"{all_pairs:>9}    article: 265 + 948")


def edited_documents(folder: str) -> Iterator[Document]:
    """Yield the documents of a folder, then copies with more and more edits."""
    documents = [document for _, document in read_sources(read_corpus([folder])) if isinstance(document, Document)]
    yield from documents
    texts = {document.id: document.text for document in documents}
    for number, overlap in enumerate(cycle((0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05))):
        copies = edited_copies(texts, overlap, number)
        yield from (Document(f"{number} {id}", text) for id, text in copies.items())


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def milliseconds(seconds: list[float]) -> str:
    """Return the median as text, in milliseconds."""
    value = 1000 * statistics.median(seconds)
    return f"{value:,.2f} ms" if value < 100 else f"{value:,.0f} ms"


if __name__ == "__main__":
    main()
