"""Reads the rows of shards, and computes their sketches in worker processes."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from simdoc_search.dedupe.chunks import COMPARED, NO_WORDS, Chunk, Columns
from simdoc_search.dedupe.decontamination import EvaluationNgrams
from simdoc_search.dedupe.rows import ROW_DTYPE, RowData, RowWriter
from simdoc_search.duplicates.field_values import encode_values
from simdoc_search.duplicates.fingerprint_table import MAX_TOKENS_WITH_LOW_BITS
from simdoc_search.sketch.packed import packed_fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import ParallelMapper

_CHECKPOINT_BYTES, _CHECKPOINT_SECONDS = 1 << 27, 10.0
_HASH_BYTES = 16


class HasRows(Protocol):
    """A source of rows: a shard, or a `Frame` in memory."""

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        """Yield all rows except the first `skip` rows."""


@dataclass(frozen=True, slots=True)
class ShardColumns:
    """A shard, and the columns to read from it."""

    shard: HasRows
    columns: Columns


def sketch_shards(
    shards: Sequence[ShardColumns],
    writer: RowWriter,
    settings: Settings,
    workers: ParallelMapper,
    *,
    progress: Callable[[int], None],
    evaluation: EvaluationNgrams | None = None,
) -> None:
    """Append all rows of the shards, except those that an earlier run has already appended."""
    if writer.is_complete:
        return
    begin = max(0, len(writer.shard_rows) - 1)  # the last shard may not be finished
    sources: deque[int] = deque()

    def read_chunks() -> Iterator[Chunk]:
        for number in range(begin, len(shards)):
            done = writer.shard_rows[number] if number < len(writer.shard_rows) else 0
            for chunk in shards[number].shard.chunks(shards[number].columns, done if number == begin else 0):
                sources.append(number)
                yield chunk

    pending, saved_at = 0, time.monotonic()
    for data in workers.map(partial(sketch_chunk, settings, evaluation), read_chunks()):
        pending += writer.append(sources.popleft(), data)
        progress(len(data.rows))
        if pending >= _CHECKPOINT_BYTES or time.monotonic() - saved_at > _CHECKPOINT_SECONDS:
            writer.checkpoint()
            pending, saved_at = 0, time.monotonic()
    writer.shard_rows += [0] * (len(shards) - len(writer.shard_rows))
    writer.checkpoint(is_complete=True)


def sketch_chunk(settings: Settings, evaluation: EvaluationNgrams | None, chunk: Chunk) -> RowData:
    """Return the sketches of the rows of a chunk."""
    values = chunk.values()
    rows = np.zeros(len(values.texts), ROW_DTYPE)
    problems = np.array(values.problems, np.uint8)
    compared = np.flatnonzero(problems == COMPARED)
    texts = [text for text in values.texts if text is not None]
    token_ids = low_bits = np.zeros(0, np.uint32)
    if texts:
        token_ids, counts, shingle_counts, words_hashes, low_bits = packed_fingerprints(
            texts, settings.analysis, settings.sketch
        )
        rows["tokens"][compared], rows["shingles"][compared] = counts, shingle_counts
        low_bits = low_bits[np.repeat(counts <= MAX_TOKENS_WITH_LOW_BITS, counts)]
        hashes = bytes.fromhex("".join(words_hashes))
        rows["words_hash"][compared] = np.frombuffer(hashes, "<u8").reshape(-1, 2)
    encoded = [text.encode() for text in texts]
    digests = b"".join(hashlib.blake2b(text, digest_size=_HASH_BYTES).digest() for text in encoded)
    rows["text_hash"][compared] = np.frombuffer(digests, "<u8").reshape(-1, 2)
    rows["text_bytes"][compared] = list(map(len, encoded))
    problems[compared[rows["tokens"][compared] == 0]] = NO_WORDS
    rows["problem"] = problems
    ids = _encode_ids(values.ids)
    if ids:
        rows["id_bytes"] = list(map(len, ids))
    runs = evaluation.find_overlaps(texts) if evaluation and texts else []
    if runs:
        rows["run_bytes"][compared] = list(map(len, runs))
    keep_rule_strings = b""
    if values.keep_values:
        rows["keep_kind"], rows["keep"], strings = encode_values(values.keep_values)
        keep_rule_strings = b"".join(strings)
    return RowData(
        rows,
        token_ids.astype(np.uint32, copy=False),
        low_bits,
        b"".join(encoded),
        b"".join(ids),
        b"".join(runs),
        keep_rule_strings,
    )


def shard_begins(shard_rows: Sequence[int]) -> list[int]:
    """Return the row number of the first row of each shard, and the total number of rows."""
    return [0, *accumulate(shard_rows)]


def _encode_ids(ids: Sequence[Any]) -> list[bytes]:
    """Encode ids as JSON."""
    return [
        json.dumps(id if isinstance(id, str | int | float) else None if id is None else str(id)).encode() for id in ids
    ]
