"""Exact search for short quotations: what the index of words costs, how fast it answers, and what it finds.

    python scripts/bench_phrases.py [DOCUMENTS | FOLDER] [WORDS]

Makes two local stores of the same documents, with and without words, and prints their bytes and the processor time.
Then it takes sentences of 3 to 40 words from random documents and asks for each one which documents share it. A
document counts as found if it is among the candidates. DOCUMENTS synthetic ones of WORDS words are made as
`bench_store.py` makes them. A FOLDER gives its own, in pieces of 400 words.
Times are those of this process, so that other work on the machine does not count.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_store import documents as synthetic

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.analysis.words import locate_words
from simdoc_search.corpus import FileSource, read_corpus
from simdoc_search.corpus.file_reader import read_in_process
from simdoc_search.search.passage_candidates import find_passage_candidates
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.stores.base import Store

LENGTHS, SENTENCES, SIZE = (3, 4, 5, 6, 8, 10, 15, 20, 40), 200, 20_000


def documents(source: str) -> Iterator[Document]:
    """The documents of a folder, or so many synthetic ones."""
    if source.isdigit():
        yield from synthetic(int(source))
        return
    for found in read_corpus([source]):
        each = read_in_process(found) if isinstance(found, FileSource) else found
        if isinstance(each, Document):
            spans = locate_words(each.text)
            for first in range(0, len(spans.words), 400):
                end = min(first + 400, len(spans.words))
                yield Document(f"{each.id}#{first}", each.text[spans.starts[first] : spans.ends[end - 1]])


def processor_seconds() -> float:
    """Those of this process and of the workers that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def made(folder: Path, source: Callable[[], Iterator[Document]], *, words: bool) -> tuple[Store, float]:
    """A store of the documents, and the seconds that it took."""
    store = open_store(folder, Settings(indexes_word_pairs=words), create=True)
    began = processor_seconds()
    SimilaritySearch(store).index(source(), workers=2)
    return store, processor_seconds() - began


def sentences(store: Store, ids: list[str], length: int) -> Iterator[tuple[str, str]]:
    """Runs of so many words of random documents, with the id of each."""
    chosen = random.Random(length)
    count = 0
    while count < SENTENCES:
        record = store.get(chosen.choice(ids), with_text=True)
        text = record.text if record and record.text else ""
        spans = locate_words(text)
        if len(spans.words) >= length:
            first = chosen.randrange(len(spans.words) - length + 1)
            yield record.id if record else "", text[spans.starts[first] : spans.ends[first + length - 1]]
            count += 1


def measure(store: Store, ids: list[str], length: int) -> str:
    """One line of figures."""
    times, found, common = [], 0, 0
    for id, text in sentences(store, ids, length):
        began = time.process_time()
        document = QueryDocument.from_text(text, store.settings)
        candidates = find_passage_candidates(store, document, filters=None, exclude=None, size=SIZE)
        times.append(1000 * (time.process_time() - began))
        found += id in {each.id for each in candidates.documents}
        common += candidates.too_common_phrase_count > 0
    times.sort()
    middle, high = statistics.median(times), times[len(times) * 95 // 100]
    shares = f"{found / SENTENCES:>9.1%}{common / SENTENCES:>13.1%}"
    return f"{length:>6}{shares}{middle:>10.1f}{high:>8.1f}{times[-1]:>8.1f}"


def main() -> None:
    """Both stores, then the questions."""
    source = sys.argv[1] if len(sys.argv) > 1 else "20000"
    with tempfile.TemporaryDirectory() as scratch:
        figures = {}
        for words in (False, True):
            store, seconds = made(Path(scratch, f"{words}"), lambda: documents(source), words=words)
            info = store.info()
            figures[words] = info.bytes or 0, seconds
            name = "with" if words else "without"
            print(f"{name} words: {info.document_count:,} documents, {info.bytes:,} bytes, {seconds:.1f} s")
        (less, faster), (more, slower) = figures[False], figures[True]
        print(f"{more / less - 1:+.1%} bytes, {slower / faster - 1:+.1%} processor time")
        ids = [each.id for each in store.scan()]
        print(" words    found   too common  median ms    p95     max")
        for length in LENGTHS:
            print(measure(store, ids, length), flush=True)


if __name__ == "__main__":
    main()
