"""Too much of a thing: what `tests/test_hardening.py` does in small, at full size, with seconds and peak memory.

    python scripts/stress.py [NAME...]

Each case runs in a process of its own, so that its peak is its own. `empty-files` makes a million real files in a
temporary folder, which takes minutes and inodes, and therefore runs only if it is named; `skips` is the same for what
comes after the search for files.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import FileSource, SkippedFile, find_files, read_corpus

LINE_BYTES = 200_000_000
SKIPS = 1_000_000
COPIES = 10_000
WORDS = 700


def new_search(folder: Path) -> SimilaritySearch:
    """A search over an empty store."""
    return SimilaritySearch(open_store(folder / "store", create=True))


def line(folder: Path, piece: str) -> Iterator[str]:
    """A JSONL file of one long line and a short one."""
    count = LINE_BYTES // len(piece)
    with (folder / "a.jsonl").open("w", encoding="utf-8") as file:
        file.write('{"id": "large", "text": "first of many ')
        file.writelines(piece * 1000 for _ in range(count // 1000))
        file.write('"}\n{"id": "small", "text": "other words"}\n')
    yield "written"
    report = new_search(folder).index(read_corpus([folder / "a.jsonl"]))
    yield f"{report.added_count} indexed, {len(report.skipped)} skipped"


def words_line(folder: Path) -> Iterator[str]:
    """One line of 200 MB, of words."""
    return line(folder, "word and word ")


def word_line(folder: Path) -> Iterator[str]:
    """One line of 200 MB, of a single word, as base64 is."""
    return line(folder, "word")


def text_line(folder: Path) -> Iterator[str]:
    """A text file of one line of 200 MB."""
    with (folder / "a.txt").open("w", encoding="utf-8") as file:
        file.writelines("word and word " * 1000 for _ in range(LINE_BYTES // 14_000))
    yield "written"
    sources = find_files([folder / "a.txt"], max_bytes=2 * LINE_BYTES)
    report = new_search(folder).index(sources)
    yield f"{report.added_count} indexed, {len(report.skipped)} skipped"


def skips(folder: Path) -> Iterator[str]:
    """A million files that are skipped when they are found, and as many that turn out to be empty."""
    report = new_search(folder).index(SkippedFile(f"corpus/{number}.txt", "hidden") for number in range(SKIPS))
    yield f"{len(report.skipped):,} skipped when found"
    (folder / "empty.txt").touch()
    empty = (FileSource(f"{number}.txt", str(folder / "empty.txt"), str(folder), 0, 0) for number in range(SKIPS))
    report = SimilaritySearch(open_store(folder / "store")).index(empty, workers=2)
    yield f"{len(report.skipped):,} skipped when read"


def empty_files(folder: Path) -> Iterator[str]:
    """A million empty files."""
    for number in range(SKIPS):
        path = folder / "corpus" / f"{number // 1000}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    yield "made"
    report = new_search(folder).index(read_corpus([folder / "corpus"]), workers=2)
    yield f"{len(report.skipped):,} skipped"


def copies(folder: Path) -> Iterator[str]:
    """Ten thousand identical documents, and queries for what is like one of them."""
    text = " ".join(f"word{number}" for number in range(WORDS))
    search = new_search(folder)
    report = search.index((Document(f"copy{number}", text) for number in range(COPIES)), workers=2)
    yield f"{report.added_count:,} indexed"
    for query in ("copy0", "copy0_80", "copy0_20_80", "copy0_80_80"):
        result = search.similar(query)
        yield f"{query}: {len(result.hits)} hits, {result.compared_count:,} documents compared"


CASES: dict[str, Callable[[Path], Iterator[str]]] = {
    "words-line": words_line,
    "word-line": word_line,
    "text-line": text_line,
    "skips": skips,
    "copies": copies,
    "empty-files": empty_files,
}
ON_REQUEST = {"empty-files"}


def run(name: str) -> None:
    """Print each step of a case with its seconds and the peak of memory until then."""
    print(f"{name}: {CASES[name].__doc__}")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        for step in CASES[name](Path(folder)):
            seconds = time.perf_counter() - began
            print(f"  {step:<50} {seconds:8.1f} s {peak(resource.RUSAGE_SELF):8,.0f} MB", flush=True)
            began = time.perf_counter()
    print(f"  {'largest worker':<50} {'':10} {peak(resource.RUSAGE_CHILDREN):8,.0f} MB", flush=True)


def peak(who: int) -> float:
    """The largest memory so far, in MB."""
    return resource.getrusage(who).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    """Run the cases that are named, or all but those on request."""
    names = sys.argv[1:] or [name for name in CASES if name not in ON_REQUEST]
    if unknown := set(names) - set(CASES):
        sys.exit(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    for name in names:
        process = multiprocessing.get_context("spawn").Process(target=run, args=(name,))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"{name} ended with exit code {process.exitcode}")


if __name__ == "__main__":
    main()
