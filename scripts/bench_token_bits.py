"""Compares numbers of hash bits in a token: bytes, indexing time and query time, by store and number of documents.

Every document has 264 random tokens, as a document of 375 words has. No two documents are alike, which is the worst
case for the dictionary of terms. Prints a Markdown table with a line for each store, size and number of bits:

    python scripts/bench_token_bits.py --documents 10000 100000 --bits 9 12 15
    python scripts/bench_token_bits.py --documents 1000000 --store engine
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from simdoc_search.devengine import start_cluster
from simdoc_search.query.dsl import to_dsl
from simdoc_search.query.plans import BandPlan, Plan, ThresholdPlan
from simdoc_search.sketch.tokens import encode

TOKENS, BUCKET_BITS = 264, 9
CHUNK = 1000
QUERIES = 60
FIELD = {
    "type": "text",
    "analyzer": "whitespace",
    "similarity": "boolean",
    "norms": False,
    "index_options": "docs",
}
PLANS = {"OR, 53 equal": (53, 0, 0), "40 bands of 2": (0, 2, 40), "6 bands of 6": (0, 6, 6)}


@dataclass
class Measured:
    """What a store needs for a collection: bytes and microseconds per document, milliseconds per query."""

    bytes: float
    microseconds: float
    queries: dict[str, float]


def collection(documents: int, bits: int) -> Iterator[list[str]]:
    """Yield the tokens of each document; the same for the same arguments."""
    rng = np.random.default_rng(1)
    for start_at in range(0, documents, CHUNK):
        size = min(CHUNK, documents - start_at)
        buckets = np.argsort(rng.random((size, 1 << BUCKET_BITS)), axis=1)[:, :TOKENS]
        hashes = rng.integers(0, 1 << bits, (size, TOKENS))
        token_ids: NDArray[np.uint32] = np.sort(buckets << bits | hashes, axis=1).astype(np.uint32)
        length = -(-(BUCKET_BITS + bits) // 6)
        for row in token_ids:
            yield encode(row, length)


def plans_for(tokens: list[str]) -> dict[str, Plan]:
    """The measured queries for a document."""
    plans: dict[str, Plan] = {}
    for name, (least, rows, count) in PLANS.items():
        bands = tuple(tuple(tokens[n * rows : (n + 1) * rows]) for n in range(count))
        plans[name] = BandPlan(tuple(tokens), bands) if bands else ThresholdPlan(tuple(tokens), least)
    return plans


def query_documents(documents: int, bits: int) -> list[list[str]]:
    """Some documents of the collection."""
    chosen = set(random.Random(2).sample(range(documents), QUERIES))
    return [tokens for number, tokens in enumerate(collection(documents, bits)) if number in chosen]


def time_queries(run: Callable[[Plan], int], documents: list[list[str]]) -> dict[str, float]:
    """Return the median milliseconds of each kind of query; each must find its document."""
    times: dict[str, list[float]] = {name: [] for name in PLANS}
    for tokens in documents:
        for name, plan in plans_for(tokens).items():
            began = time.perf_counter()
            hits = run(plan)
            times[name].append(1000 * (time.perf_counter() - began))
            if not hits:
                raise RuntimeError(f"the query {name} did not find its own document")
    return {name: statistics.median(values) for name, values in times.items()}


def measure_local(documents: int, bits: int) -> Measured:
    """Measure tantivy with our field."""
    folder = Path(tempfile.mkdtemp())
    try:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("tokens", tokenizer_name="whitespace", index_option="basic")
        schema = builder.build()
        index = tantivy.Index(schema, str(folder))
        writer = index.writer(200_000_000, 1)
        seconds = 0.0
        for tokens in collection(documents, bits):
            text = " ".join(tokens)
            began = time.process_time()
            document = tantivy.Document()
            document.add_text("tokens", text)
            writer.add_document(document)
            seconds += time.process_time() - began
        began = time.process_time()
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        seconds += time.process_time() - began
        index.register_tokenizer("whitespace", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        searcher = index.searcher()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

        def run(plan: Plan) -> int:
            term = {token: tantivy.Query.term_query(schema, "tokens", token, "basic") for token in plan.tokens}
            if isinstance(plan, ThresholdPlan):
                clauses = [(tantivy.Occur.Should, tantivy.Query.const_score_query(term[t], 1.0)) for t in plan.tokens]
                hits = searcher.search(tantivy.Query.boolean_query(clauses), 10).hits
                return sum(score >= plan.minimum_match for score, _ in hits)
            bands = [tantivy.Query.boolean_query([(tantivy.Occur.Must, term[t]) for t in band]) for band in plan.bands]
            either = tantivy.Query.boolean_query([(tantivy.Occur.Should, band) for band in bands])
            return len(searcher.search(tantivy.Query.const_score_query(either, 1.0), 257).hits)

        return Measured(
            size / documents, 1e6 * seconds / documents, time_queries(run, query_documents(documents, bits))
        )
    finally:
        shutil.rmtree(folder)


def measure_engine(client: OpenSearch, documents: int, bits: int) -> Measured:
    """Measure OpenSearch with our field, in one shard and one segment. Indexing counts the time of `_bulk` alone."""
    index = f"bits-{bits}-{documents}"
    client.indices.delete(index=index, ignore_unavailable=True)
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
    client.indices.create(index=index, body={"settings": settings, "mappings": {"properties": {"tokens": FIELD}}})
    seconds = 0.0
    lines: list[str] = []

    def send() -> float:
        body = "".join(lines)
        lines.clear()
        began = time.perf_counter()
        answer = client.bulk(body=body, index=index, filter_path="errors")
        if answer["errors"]:
            raise RuntimeError("the engine refused documents")
        return time.perf_counter() - began

    for tokens in collection(documents, bits):
        lines.append('{"index":{}}\n' + json.dumps({"tokens": " ".join(tokens)}) + "\n")
        if len(lines) == CHUNK:
            seconds += send()
    seconds += send() if lines else 0
    client.indices.forcemerge(index=index, max_num_segments=1, request_timeout=3600)
    client.indices.refresh(index=index)
    size = client.indices.stats(index=index, metric="store")["_all"]["primaries"]["store"]["size_in_bytes"]

    def run(plan: Plan) -> int:
        body: dict[str, Any] = {"query": to_dsl(plan, "tokens", score="nothing"), "size": 10, "_source": False}
        if isinstance(plan, BandPlan):
            body |= {"sort": ["_doc"], "track_total_hits": 257}
        return len(client.search(index=index, body=body)["hits"]["hits"])

    queries = time_queries(run, query_documents(documents, bits))
    client.indices.delete(index=index)
    return Measured(size / documents, 1e6 * seconds / documents, queries)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000])
    parser.add_argument("--bits", type=int, nargs="+", default=[9, 11, 12, 15])
    parser.add_argument("--store", choices=["local", "engine"], nargs="+", default=["local", "engine"])
    arguments = parser.parse_args()
    print("| store | documents | bits | bytes/doc | µs/doc |", " | ".join(f"{name}, ms" for name in PLANS), "|")
    print("|---" * (5 + len(PLANS)) + "|")
    for store in arguments.store:
        cluster = start_cluster(port=0, ephemeral=True) if store == "engine" else None
        try:
            client = OpenSearch(cluster.url, timeout=600) if cluster else None
            for documents in arguments.documents:
                for bits in arguments.bits:
                    measured = measure_engine(client, documents, bits) if client else measure_local(documents, bits)
                    cells = (store, f"{documents:,}", bits, f"{measured.bytes:,.0f}", f"{measured.microseconds:,.0f}")
                    print("|", " | ".join(map(str, cells)), "|", end=" ")
                    print(" | ".join(f"{value:.2f}" for value in measured.queries.values()), "|", flush=True)
        finally:
            if cluster:
                cluster.stop()


if __name__ == "__main__":
    main()
