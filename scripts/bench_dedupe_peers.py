"""Other programs that deduplicate a Parquet file, for bench_dedupe.py. Their rules decide which rows they keep.

    python scripts/bench_dedupe_peers.py PROGRAM SOURCE TARGET

TARGET is a Parquet file with the column `id` of the kept rows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

PERMUTATIONS = 128
RENSA_BANDS = 16  # of 8 rows: at an overlap of 80 %, a pair is found with a probability of 95 %


def rensa(source: Path, target: Path) -> None:
    """Keep the first row of each connected component."""
    import rensa  # noqa: PLC0415 - it is in the environment of the other programs

    table = parquet.read_table(source)
    index = rensa.RMinHashLSH(threshold=0.8, num_perm=PERMUTATIONS, num_bands=RENSA_BANDS)
    parent = list(range(table.num_rows))

    def find(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    for number, text in enumerate(table.column("text").to_pylist()):
        words = text.lower().split()
        sketch = rensa.RMinHash(num_perm=PERMUTATIONS, seed=42)
        sketch.update([" ".join(words[begin : begin + 5]) for begin in range(max(1, len(words) - 4))])
        for other in index.query(sketch):
            first, second = sorted((find(other), find(number)))
            parent[second] = first
        index.insert(number, sketch)
    parquet.write_table(table.filter(pa.array([find(row) == row for row in range(len(parent))])), target)


def text_dedup(source: Path, target: Path) -> None:
    """Run its command with an overlap of 80 %, runs of 5 words and 2 processes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "text_dedup.minhash", "--path", "parquet", "--data_files", str(source.resolve()),
            "--split", "train", "--cache_dir", f"{folder}/cache", "--output", f"{folder}/kept", "--column", "text",
            "--idx_column", "id", "--batch_size", "10000", "--threshold", "0.8", "--ngram", "5", "--num_proc", "2",
        ]  # fmt: skip
        subprocess.run(command, check=True, cwd=folder)
        tables = [ipc.open_stream(path).read_all() for path in sorted(Path(folder, "kept").glob("*.arrow"))]
        parquet.write_table(pa.concat_tables(tables), target)


def datatrove(source: Path, target: Path) -> None:
    """Run its four steps with their default settings, in 2 processes."""
    from datatrove.executor import LocalPipelineExecutor  # noqa: PLC0415
    from datatrove.pipeline.dedup import minhash  # noqa: PLC0415
    from datatrove.pipeline.readers import ParquetReader  # noqa: PLC0415
    from datatrove.pipeline.writers import ParquetWriter  # noqa: PLC0415

    config = minhash.MinhashConfig()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        table = parquet.read_table(source)
        table = table.set_column(0, "id", table.column("id").cast(pa.string())).select(["id", "text"])
        half = table.num_rows // 2
        for number, part in enumerate((table.slice(0, half), table.slice(half))):
            parquet.write_table(part, data / f"{number}.parquet")
        signatures, buckets, removed = f"{folder}/signatures", f"{folder}/buckets", f"{folder}/removed"
        steps: list[tuple[int, list[Any]]] = [
            (2, [ParquetReader(str(data)), minhash.MinhashDedupSignature(signatures, config)]),
            (config.num_buckets, [minhash.MinhashDedupBuckets(signatures, buckets, config=config)]),
            (1, [minhash.MinhashDedupCluster(buckets, removed, config)]),
            (2, [ParquetReader(str(data)), minhash.MinhashDedupFilter(removed), ParquetWriter(f"{folder}/kept")]),
        ]
        for tasks, pipeline in steps:
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=2).run()
        kept = [parquet.read_table(path, columns=["id"]) for path in sorted(Path(folder, "kept").glob("*.parquet"))]
        ids = pa.concat_tables(kept).column("id").cast(pa.int64())
        parquet.write_table(pa.table({"id": ids}), target)


PROGRAMS = {"rensa": rensa, "text-dedup": text_dedup, "datatrove": datatrove}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*map(Path, sys.argv[2:]))
