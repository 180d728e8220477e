"""The figures of bench.py. Each function yields the figures of one group.

Documents are synthetic: words drawn as in a language (Zipf), in sentences. Every tenth document is a version of the one
before, with changed words and sentences. One sentence in 20 is one of 50 frequent ones.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from simdoc_search import Document, SimilaritySearch, fingerprints, open_store
from simdoc_search.analysis.native import kernel
from simdoc_search.duplicates import duplicates_among
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings

VOCABULARY, FREQUENT_SENTENCES, SENTENCE_WORDS = 20_000, 50, 14
POST_WORDS, DOCUMENT_WORDS = 290, 375  # 1.9 kB and 2.5 kB
QUERY_DOCUMENTS, QUERIES = 12_847, 100
INDEX_DOCUMENTS, DUPLICATE_TEXTS, ENGINE_DOCUMENTS, MILLION = 12_000, 100_000, 6_000, 1_000_000
KERNEL_WORDS, KERNEL_TEXTS, ROUNDS = 724, 400, 5


@dataclass(frozen=True)
class Figure:
    """A measured value. `goal` is its limit: a maximum or a minimum. `peer` is a peer's value, or a remark."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    limit: Literal["max", "min"] = "max"
    peer: str = ""

    @property
    def target(self) -> str:
        """The goal, for display."""
        return "" if self.goal is None else f"{'≤' if self.limit == 'max' else '≥'} {self.goal:,g}"

    @property
    def is_met(self) -> bool | None:
        """Whether the value meets the goal; None without a goal."""
        if self.goal is None:
            return None
        return self.value <= self.goal if self.limit == "max" else self.value >= self.goal

    def as_json(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)


def has_kernel() -> bool:
    """Return whether the native kernel is installed."""
    return kernel() is not None


# --- documents ---


class Writer:
    """Writes synthetic sentences. The same seed gives the same sentences."""

    def __init__(self, seed: int, letters: str = "abcdefghijklmnopqrstuvwxyz", joiner: str = " ") -> None:
        self.random, self._joiner = random.Random(seed), joiner
        lengths = (2, 10) if joiner else (1, 3)
        names = random.Random(1)
        self._words = ["".join(names.choices(letters, k=names.randint(*lengths))) for _ in range(VOCABULARY)]
        share = 1 / np.arange(1, VOCABULARY + 1)
        self._cumulative = np.cumsum(share).tolist()
        self._frequent = [self._new_sentence() for _ in range(FREQUENT_SENTENCES)]

    def _new_sentence(self) -> str:
        words = self.random.choices(self._words, cum_weights=self._cumulative, k=SENTENCE_WORDS)
        return self._joiner.join(words).capitalize() + "."

    def sentence(self) -> str:
        """Return a new sentence, or one of the frequent ones."""
        return self.random.choice(self._frequent) if self.random.random() < 1 / 20 else self._new_sentence()

    def sentences(self, words: int) -> list[str]:
        """Return sentences with this number of words."""
        return [self.sentence() for _ in range(words // SENTENCE_WORDS)]

    def edit(self, sentences: Sequence[str]) -> list[str]:
        """Return a version: some sentences are new, and in some a word is replaced."""
        changes = self.random.random() / 2
        edited = []
        for sentence in sentences:
            chance = self.random.random()
            if chance < changes / 3:
                edited.append(self.sentence())
            elif chance < changes:
                edited.append(sentence.replace(sentence.split(" ")[0], self.random.choice(self._words).capitalize(), 1))
            else:
                edited.append(sentence)
        return edited


def documents(count: int, words: int) -> Iterator[Document]:
    """Yield documents; every tenth is a version of the one before."""
    writer = Writer(words)
    sentences = writer.sentences(words)
    for number in range(count):
        sentences = writer.edit(sentences) if number % 10 == 9 else writer.sentences(words)
        yield Document(f"d{number}", " ".join(sentences))


def percentile(times: Sequence[float], share: float) -> float:
    """Return a percentile of times, in milliseconds."""
    return 1000 * sorted(times)[min(int(share * len(times)), len(times) - 1)]


def timed(action: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that an action takes."""
    began = clock()
    action()
    return clock() - began


def processor_seconds() -> float:
    """Return the processor time of this process and of its ended child processes."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def run_command(*arguments: str | Path) -> float:
    """Return the seconds that a command line of simdoc-search takes."""
    command = [sys.executable, "-m", "simdoc_search", *map(str, arguments)]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True))


def median_of(count: int, action: Callable[[], float]) -> float:
    """Return the median of some calls."""
    return statistics.median(action() for _ in range(count))


# --- groups ---


def start() -> Iterator[Figure]:
    """Measure what a command and a first query cost."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        SimilaritySearch(open_store(store, create=True)).index(documents(2_000, POST_WORDS))
        bare = median_of(7, lambda: timed(lambda: subprocess.run([sys.executable, "-c", ""], check=True)))
        version = median_of(7, lambda: run_command("--version"))
        yield Figure("--version, more than the bare interpreter", 1000 * (version - bare), "ms", 60)
        similar = median_of(7, lambda: run_command("similar", "d9_20", "--store", store))
        yield Figure("similar from the command line", similar, "s", 0.2)
        program = (
            "import time, tantivy; from simdoc_search import SimilaritySearch, open_store; b = time.perf_counter();"
            f"SimilaritySearch(open_store({str(store)!r})).similar('d9_20'); print(time.perf_counter() - b)"
        )

        def first_query() -> float:
            return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)

        yield Figure("opening an index and the first query", 1000 * median_of(7, first_query), "ms", 40)


def index() -> Iterator[Figure]:
    """Measure indexing into the local store."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lines = root / "posts.jsonl"
        with lines.open("w") as file:
            for document in documents(INDEX_DOCUMENTS, POST_WORDS):
                file.write(json.dumps({"id": document.id, "text": document.text}) + "\n")
        seconds, processor = {}, {}
        for workers in ("1", "2"):
            before = processor_seconds()
            seconds[workers] = run_command("index", lines, "--store", root / f"jsonl{workers}", "--workers", workers)
            processor[workers] = (processor_seconds() - before) / INDEX_DOCUMENTS
        rate = INDEX_DOCUMENTS / seconds["2"]
        yield Figure("posts of 1.9 kB from JSONL, two workers", rate, "/s", 5_000, "min")
        yield Figure("two workers, times as fast as one", seconds["1"] / seconds["2"], "x", 1.6, "min")
        text = sum(len(document.text) for document in documents(INDEX_DOCUMENTS, POST_WORDS)) / INDEX_DOCUMENTS
        yield Figure("processor time for 2.5 kB of text", 1e6 * processor["1"] * 2500 / text, "µs", 200)
        size = sum(file.stat().st_size for file in (root / "jsonl2").rglob("*") if file.is_file()) / INDEX_DOCUMENTS
        yield Figure("bytes stored for each byte of text", size / text, "", 1.2)
        files = root / "files"
        for number, document in enumerate(documents(INDEX_DOCUMENTS, POST_WORDS)):
            if number % 1000 == 0:
                (files / str(number // 1000)).mkdir(parents=True)
            (files / str(number // 1000) / f"{document.id}.txt").write_text(document.text)
        store = root / "from_files"
        rate = INDEX_DOCUMENTS / run_command("index", files, "--store", store, "--workers", "2")
        yield Figure("small files, two workers", rate, "/s", 3_500, "min")
        one_file, store_of_one = files / "0" / "d0.txt", root / "from_one_file"
        run_command("index", one_file, "--store", store_of_one)
        start = run_command("index", one_file, "--store", store_of_one)
        unchanged = run_command("index", files, "--store", store)
        scaled = f"{INDEX_DOCUMENTS:,} files took {unchanged:.2f} s, and one file {start:.2f} s"
        of_all = start + (unchanged - start) * 100_000 / INDEX_DOCUMENTS
        yield Figure("looking through 100,000 unchanged files", of_all, "s", 3, peer=scaled)


def query() -> Iterator[Figure]:
    """Measure queries of a local store of 12,847 posts, made with versions."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(sentences=SentenceSettings())
        search = SimilaritySearch(open_store(Path(folder) / "store", create=True, settings=settings))
        search.index(documents(QUERY_DOCUMENTS, POST_WORDS), workers=2)
        step = QUERY_DOCUMENTS // 10 // QUERIES * 10
        ids = [f"d{number}" for number in range(9, QUERY_DOCUMENTS, step)][:QUERIES]
        goals: dict[str, tuple[Callable[[str], Any], float | None, float | None]] = {
            "similar, any overlap": (search.similar, None, 20),
            "similar _20": (lambda id: search.similar(f"{id}_20"), None, None),
            "similar _45": (lambda id: search.similar(f"{id}_45"), 1.5, None),
            "similar _20_80": (lambda id: search.similar(f"{id}_20_80"), None, None),
            "similar _80_80": (lambda id: search.similar(f"{id}_80_80"), None, None),
            "passages": (search.passages, 25, 150),
            "versions": (search.versions, 60, 150),
        }
        for name, (ask, median_goal, tail_goal) in goals.items():
            ask(ids[0])
            times = [timed(lambda ask=ask, id=id: ask(id)) for id in ids]  # type: ignore[misc]
            yield Figure(f"{name}, median", percentile(times, 0.5), "ms", median_goal)
            yield Figure(f"{name}, 99 of 100", percentile(times, 0.99), "ms", tail_goal)


def fingerprint() -> Iterator[Figure]:
    """Measure texts to fingerprints on one thread, in turns with rensa. The figures count processor time.

    rensa gets the characters of a Chinese text as words, as our grammar has them. It splits texts at spaces, so it
    would make only a thirtieth of the shingles of the sentences.
    """
    peer = load_rensa()
    scripts = {
        "ASCII": (Writer(3), 5.0),
        "German": (Writer(3, "abcdefghijklmnopqrstuvwxyzäöüßabcdefghijklmnopqrstuvwxyz"), 2.0),
        "Russian": (Writer(3, "абвгдежзийклмнопрстуфхцчшщъыьэюя"), 2.0),
        "Chinese": (Writer(3, "".join(map(chr, range(0x4E00, 0x5200))), joiner=""), 2.0),
        "Thai": (Writer(3, "".join(map(chr, range(0x0E01, 0x0E2F))), joiner=""), 2.0),
    }
    for script, (writer, goal) in scripts.items():
        texts = [" ".join(writer.sentences(KERNEL_WORDS)) for _ in range(KERNEL_TEXTS)]
        peer_texts = [" ".join(text) for text in texts] if script == "Chinese" else texts
        ours, theirs = float("inf"), float("inf")
        for _ in range(ROUNDS):
            ours = min(ours, timed(lambda texts=texts: deque(fingerprints(texts), maxlen=0), time.process_time))  # type: ignore[misc]
            if peer:
                theirs = min(theirs, timed(lambda texts=peer_texts: peer(texts), time.process_time))  # type: ignore[misc]
        yield Figure(f"fingerprints of {KERNEL_WORDS} words, {script}", KERNEL_TEXTS / ours, "/s")
        if peer:
            unit = ", each character a word" if script == "Chinese" else ""
            rate = f"rensa {KERNEL_TEXTS / theirs:,.0f}/s{unit}"
            yield Figure(f"times as fast as rensa, {script}", theirs / ours, "x", goal, "min", peer=rate)


def load_rensa() -> Callable[[Sequence[str]], None] | None:
    """Return rensa's sketching of texts; None if it is not installed."""
    if importlib.util.find_spec("rensa") is None or importlib.util.find_spec("datasketch") is None:
        print("  rensa and datasketch are not installed, so there is no peer: pip install '.[bench]'")
        return None
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    from bench_fingerprint import with_rensa  # noqa: PLC0415 - an extra

    return with_rensa


def duplicates() -> Iterator[Figure]:
    """Measure the duplicates among 100,000 texts of 2 kB. A tenth of them are edited copies."""
    pieces = [document.text[:2000] for document in documents(DUPLICATE_TEXTS, POST_WORDS + 20)]
    began, before = time.perf_counter(), processor_seconds()
    found = duplicates_among(Document(str(number), piece) for number, piece in enumerate(pieces))
    seconds, processor = time.perf_counter() - began, processor_seconds() - before
    wrong = sum(
        jaccard(shingle_set(pieces[int(group.kept.id)]), shingle_set(pieces[int(duplicate.id)])) < 0.8
        for group in found.groups()
        for duplicate in group.duplicates
    )
    members = f"{found.duplicate_count:,} duplicates; {processor:.1f} s of processor time"
    yield Figure(f"duplicates of {DUPLICATE_TEXTS:,} texts, verified", seconds, "s", 6, peer=members)
    yield Figure("wrong members among them", wrong, "", 0)
    if importlib.util.find_spec("rensa") and importlib.util.find_spec("datasketch"):
        from bench_duplicates_peers import connected, shingles, with_rensa  # noqa: PLC0415 - an extra

        began = time.perf_counter()
        pairs, _ = with_rensa([shingles(piece) for piece in pieces], Fraction(4, 5))
        theirs = time.perf_counter() - began
        groups = connected(pairs, len(pieces))
        theirs_wrong = sum(
            jaccard(shingle_set(pieces[group[0]]), shingle_set(pieces[other])) < 0.8
            for group in groups
            for other in group[1:]
        )
        remark = f"rensa's LSH: {theirs:.1f} s, {theirs_wrong} wrong members"
        yield Figure("time of rensa's LSH, unverified, over ours", theirs / seconds, "x", 1, "min", peer=remark)


def engine() -> Iterator[Figure]:
    """Measure indexing, bytes and queries in an OpenSearch that is started for this."""
    from bench_engine import BARE, OURS, RecordingTransport, bench  # noqa: PLC0415 - an extra

    from simdoc_search.devengine import running_cluster  # noqa: PLC0415 - an extra

    material = [*documents(ENGINE_DOCUMENTS, DOCUMENT_WORDS)]
    with running_cluster(heap="1g") as cluster, bench(cluster.urls[0]) as opensearch:
        ratios, rates = [], []
        for turn in range(5):
            loads = {kind: opensearch.load(kind, material) for kind in ((BARE, OURS), (OURS, BARE))[turn % 2]}
            if turn:  # the first turn warms up the engine
                ratios.append(loads[BARE] / loads[OURS])
                rates.append(ENGINE_DOCUMENTS / loads[OURS])
        rate = f"{statistics.median(rates):,.0f} documents/s"
        yield Figure("bulk indexing, share of the bare speed", statistics.median(ratios), "", 0.65, "min", peer=rate)
        added = opensearch.merged_bytes(OURS) - opensearch.merged_bytes(BARE)
        yield Figure("bytes added for 375 words", added, "B", 1_600)
        search = SimilaritySearch(open_store(client=opensearch.client, index=opensearch.indices[OURS]))
        ids = [f"d{number}" for number in range(9, ENGINE_DOCUMENTS, ENGINE_DOCUMENTS // QUERIES // 10 * 10)][:QUERIES]
        for _ in range(10):
            like_text = [timed(lambda id=id: opensearch.search_like_text(id)) for id in ids]  # type: ignore[misc]
        yield Figure("more_like_this of the text in OpenSearch, median", percentile(like_text, 0.5), "ms")
        for overlap, goal in ((20, 600), (80, 1_700)):
            queries = [FingerprintQuery(id, Fraction(overlap, 100), Fraction(4, 5)) for id in ids]
            for _ in range(10):  # the engine compiles what it runs often
                RecordingTransport.searches.clear()
                for query in queries:
                    search.similar(query, verify=False)
            searches = [*RecordingTransport.searches]
            times = [timed(lambda query=query: search.similar(query, verify=False)) for query in queries]  # type: ignore[misc]
            alone = timed(lambda: [*map(opensearch.send, searches)])  # noqa: B023
            name, peer = f"similar _{overlap}_80 in OpenSearch", "its requests, sent by opensearch-py alone"
            peer_ms = f"{1000 * alone / len(queries):,.2f} ms: {peer}"
            yield Figure(f"{name}, estimated, median", percentile(times, 0.5), "ms", 4, peer=peer_ms)
            with ThreadPoolExecutor(8) as pool:
                alone = timed(lambda: [*pool.map(opensearch.send, searches * 4)])  # noqa: B023
                seconds = timed(lambda: [*pool.map(search.similar, queries * 4)])  # noqa: B023
            peer_rate = f"{4 * len(queries) / alone:,.0f}/s: {peer}"
            yield Figure(f"{name}, eight clients", 4 * len(queries) / seconds, "/s", goal, "min", peer=peer_rate)


def million() -> Iterator[Figure]:
    """Measure a local store of a million short posts: the rate, and a process that only queries."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        search = SimilaritySearch(open_store(store, create=True))
        report = search.index(documents(MILLION, 84), workers=os.cpu_count() or 1)
        yield Figure("a million posts of 84 words into the local index", MILLION / report.seconds, "/s")
        program = f"""
import resource, time
from simdoc_search import SimilaritySearch, open_store
search = SimilaritySearch(open_store({str(store)!r}))
for query in ("", "_20", "_20_80"):
    times = []
    for number in range(9, 1000, 10):
        began = time.perf_counter()
        search.similar(f"d{{number}}{{query}}")
        times.append(1000 * (time.perf_counter() - began))
    print(sorted(times)[50], max(times))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
        process = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        *rows, memory = process.stdout.split("\n")[:-1]
        for name, row in zip(("any overlap", "_20", "_20_80"), rows, strict=True):
            median, longest = map(float, row.split())
            yield Figure(f"similar among a million, {name}, median", median, "ms")
            yield Figure(f"similar among a million, {name}, longest of 100", longest, "ms")
        yield Figure("memory of a process that queries a million", float(memory), "MB", 300)
