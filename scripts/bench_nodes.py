"""Compares a local store with an OpenSearch of several nodes that holds the same documents.

    pip install '.[cli,opensearch,devengine]' numpy
    python scripts/bench_nodes.py [DOCUMENTS] [--nodes 3] [--heap 1g]      default: 100,000 documents of 2.5 kB

The documents are those of bench_figures.py: every tenth is a version of the one before. The index has a shard per node
and no replicas. The loader sends it actions with fingerprints, as an application would. Both stores answer the same
queries, one at a time. Recall is the share of those pairs of a version and its original that reach the overlap, and
that the store finds. For passages, which have no threshold, it is the share of all these pairs.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from pathlib import Path

from bench_figures import DOCUMENT_WORDS, documents, percentile
from opensearchpy import OpenSearch, helpers

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.devengine import running_cluster
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.stores.remote.schema import component_template

INDEX, QUERIES, WORKERS, SECONDS = "bench-nodes", 100, 2, 3_600
PLANS = ((20, None), (20, 80), (80, 80))
Overlaps = dict[int, float]


def write_documents(path: Path, count: int) -> Overlaps:
    """Write the documents. Return the exact overlap of each version, by its number, with the document before it."""
    overlaps: Overlaps = {}
    last = ""
    with path.open("w", encoding="utf-8") as file:
        for number, document in enumerate(documents(count, DOCUMENT_WORDS)):
            file.write(document.text + "\n")
            if number % 10 == 9:
                overlaps[number] = jaccard(shingle_set(last), shingle_set(document.text))
            last = document.text
    return overlaps


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a file, one per line."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            yield Document(f"d{number}", line.rstrip("\n"))


def make_local(folder: Path, lines: Path, count: int) -> SimilaritySearch:
    """Index the documents into a local store."""
    search = SimilaritySearch(open_store(folder / "store", create=True))
    report = search.index(read_documents(lines), workers=WORKERS)
    size = sum(file.stat().st_size for file in (folder / "store").rglob("*") if file.is_file())
    print_row("local", "index", f"{report.seconds:,.0f} s", f"{size / count:,.0f} bytes per document")
    return search


def make_remote(client: OpenSearch, lines: Path, count: int, nodes: int) -> SimilaritySearch:
    """Index the documents into the engine, with one shard per node."""
    properties = {"body": {"type": "text"}, **component_template()["template"]["mappings"]["properties"]}
    settings = {"number_of_shards": nodes, "number_of_replicas": 0, "refresh_interval": "-1"}
    body = {"settings": {"index": settings}, "mappings": {"dynamic": False, "properties": properties}}
    client.indices.create(index=INDEX, body=body)
    actions = fingerprint_actions(
        ({"_index": INDEX, "_id": document.id, "body": document.text} for document in read_documents(lines)), "body"
    )
    began = time.perf_counter()
    deque(helpers.parallel_bulk(client, actions, nodes, chunk_size=500), maxlen=0)
    client.indices.refresh(index=INDEX)
    seconds = time.perf_counter() - began
    size = client.indices.stats(index=INDEX)["_all"]["primaries"]["store"]["size_in_bytes"]
    print_row("engine", "index", f"{seconds:,.0f} s", f"{size / count:,.0f} bytes per document")
    return SimilaritySearch(open_store(client=client, index=INDEX, text_field="body"))


def measure(name: str, search: SimilaritySearch, overlaps: Overlaps) -> None:
    """Print the times and the recall of the queries, and of the duplicates."""
    numbers = [*overlaps][:: max(1, len(overlaps) // QUERIES)][:QUERIES]
    for overlap, probability in PLANS:
        query = f"_{overlap}" + (f"_{probability}" if probability else "")
        print_queries(
            name,
            f"similar {query}",
            [number for number in numbers if overlaps[number] >= Fraction(overlap, 100)],
            lambda id, query=query: {hit.id for hit in search.similar(id + query, size=1_000).hits},  # type: ignore[misc]
        )
    print_queries(name, "passages", numbers, lambda id: {hit.id for hit in search.passages(id).hits})
    near = {number for number, overlap in overlaps.items() if overlap >= Fraction(4, 5)}
    began = time.perf_counter()
    result = search.duplicates()
    seconds = time.perf_counter() - began
    found = set()
    for group in result.groups():
        members = {int(group.kept.id[1:]), *(int(duplicate.id[1:]) for duplicate in group.duplicates)}
        found |= {number for number in members if number - 1 in members}
    recall = len(found & near) / max(1, len(near))
    print_row(name, "duplicates", f"{seconds:,.0f} s", f"recall {recall:.4f}, {len(found - near)} wrong")


def print_queries(name: str, query: str, numbers: Collection[int], find: Callable[[str], Collection[str]]) -> None:
    """Print the times of a query by each of these documents, and for how many the document before it is a hit."""
    find(f"d{next(iter(numbers))}")
    times, found = [], 0
    for number in numbers:
        began = time.perf_counter()
        hits = find(f"d{number}")
        times.append(time.perf_counter() - began)
        found += f"d{number - 1}" in hits
    shown = f"{percentile(times, 0.5):,.1f} and {percentile(times, 0.99):,.1f} ms"
    print_row(name, query, shown, f"recall {found / len(numbers):.3f} of {len(numbers)}")


def print_row(*cells: str) -> None:
    """Print a line of the table."""
    print(f"{cells[0]:<8}{cells[1]:<18}" + "".join(f"{cell:<28}" for cell in cells[2:]), flush=True)


def both_stores(folder: Path, lines: Path, options: argparse.Namespace) -> Iterator[tuple[str, SimilaritySearch]]:
    """Yield the local store, then the engine's."""
    yield "local", make_local(folder, lines, options.documents)
    with running_cluster(options.nodes, heap=options.heap) as cluster:
        client = OpenSearch(cluster.urls, timeout=SECONDS)
        yield "engine", make_remote(client, lines, options.documents, options.nodes)


def main() -> None:
    """Print the table for one size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", type=int, nargs="?", default=100_000)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--heap", default="1g")
    options = parser.parse_args()
    print(f"{options.documents:,} documents of {DOCUMENT_WORDS} words; times are the median and the 99th percentile")
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "documents.txt")
        overlaps = write_documents(lines, options.documents)
        for name, search in both_stores(Path(folder), lines, options):
            measure(name, search, overlaps)
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
