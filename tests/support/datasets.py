"""Datasets with duplicates, and their readers."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from simdoc_search.passages.exact_overlap import jaccard, shingle_set

__all__ = ["make_rows", "read_rows", "true_members", "write_rows"]


def make_rows(count: int = 120, seed: int = 1, words: int = 80) -> list[dict[str, Any]]:
    """Return rows with a text, an id and a score. A third are exact copies, other layouts or edited copies."""
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(3000)]
    texts = [" ".join(chance.choices(vocabulary, k=words)) for _ in range(count)]
    for number in range(0, count, 3):
        original = texts[chance.randrange(count)].split()
        place = chance.randrange(1, len(original))
        texts[number] = (
            " ".join(original),
            "  ".join(original).upper(),
            " ".join([*original[:place], "edited", *original[place:]]),
        )[number % 9 // 3]
    return [
        {"id": f"doc-{number}", "text": text, "score": chance.randrange(100), "tags": f'"x", {number}'}
        for number, text in enumerate(texts)
    ]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the format of the extension."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.name
    if name.endswith(".parquet"):
        parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    elif name.endswith(".arrow"):
        table = pa.Table.from_pylist(rows)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=30)
    elif name.endswith(".feather"):
        table = pa.Table.from_pylist(rows)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=30)
    else:
        path.write_bytes(_compress(_encode(rows, name), name))
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read rows in the format of the extension."""
    name = path.name
    rows: list[dict[str, Any]] = []
    if name.endswith(".parquet"):
        rows += parquet.read_table(path).to_pylist()
        return rows
    if name.endswith((".arrow", ".feather")):
        with pa.memory_map(str(path)) as file:
            opened = pa.ipc.open_stream(file) if name.endswith(".arrow") else pa.ipc.open_file(file)
            rows += opened.read_all().to_pylist()
        return rows
    data = path.read_bytes()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    elif name.endswith(".zst"):
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    if ".csv" in name or ".tsv" in name:
        text = io.StringIO(data.decode(), newline="")
        rows += list(csv.DictReader(text, delimiter="\t" if ".tsv" in name else ","))
        return [{**row, "score": int(row["score"])} for row in rows]
    return [json.loads(line) for line in data.splitlines()]


def true_members(rows: list[dict[str, Any]], overlap: float = 0.8) -> set[tuple[int, int]]:
    """Return all pairs of rows with at least this Jaccard similarity, by comparing each row with every other."""
    sets = [shingle_set(row["text"] or "") for row in rows]
    return {
        (a, b)
        for a in range(len(sets))
        for b in range(a + 1, len(sets))
        if sets[a] and jaccard(sets[a], sets[b]) >= overlap
    }


def _encode(rows: list[dict[str, Any]], name: str) -> bytes:
    if ".csv" in name or ".tsv" in name:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[0], delimiter="\t" if ".tsv" in name else ",")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _compress(data: bytes, name: str) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    if name.endswith(".zst"):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return bytes(sink.getvalue())
    return data
