"""The sketches and texts of all rows, in a few append-only files. The next run resumes an interrupted run from them.

| File | Content |
|---|---|
| rows.bin | one record of type `ROW_DTYPE` per row |
| codes.bin | the tokens of all rows; uint32 |
| extensions.bin | for rows with few tokens, the lowest 32 bits of the hash of each token; uint32 |
| texts.bin | the texts of all compared rows; UTF-8 |
| ids.bin | the ids of all rows as JSON; empty without an id column |
| runs.bin | for rows that share enough consecutive words with an evaluation text: its name and the words, as JSON |
| keeps.bin | with `--keep max:COLUMN` or `min:COLUMN`, the values of this column if they are strings; UTF-8 |
| checkpoint.json | the size of the complete part of each file, the inputs, and the number of rows read per shard |

The checkpoint is replaced atomically after the other files are written. If a file is longer than its size in the
checkpoint, the rest is cut off.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.arrays import AnyInts, Bools, Ints, release_memory, slices
from simdoc_search.duplicates.field_values import STRING
from simdoc_search.duplicates.fingerprint_table import MAX_TOKENS_WITH_LOW_BITS
from simdoc_search.durable import write_atomically
from simdoc_search.errors import StoreError

ROW_DTYPE = np.dtype(
    [
        ("words_hash", "<u8", 2),  # two halves of the hash of the words
        ("text_hash", "<u8", 2),  # two halves of the hash of the text
        ("tokens", "<u4"),  # number of tokens
        ("shingles", "<u4"),  # number of distinct shingles
        ("text_bytes", "<u4"),  # length in texts.bin
        ("id_bytes", "<u4"),  # length in ids.bin
        ("run_bytes", "<u4"),  # length in runs.bin; 0 if the row is not in that file
        # the value in the column of `--keep`: an integer, the bits of a float, or the length of a string in keeps.bin
        ("keep", "<i8"),
        ("keep_kind", "u1"),  # the kind of this value; see `duplicates.field_values`
        ("problem", "u1"),  # index in PROBLEMS
    ]
)
FORMAT_VERSION = 1

_FILE_NAMES = ("rows", "codes", "extensions", "texts", "ids", "runs", "keeps")
_CHECKPOINT = "checkpoint.json"
_ROWS_AT_ONCE, _ROWS_PER_PART, _ROWS_PER_BLOCK, _TEXTS_AT_ONCE = 1 << 18, 1 << 12, 32, 256


class RowData(NamedTuple):
    """The rows of a chunk, as they are stored."""

    rows: NDArray[np.void]
    token_ids: NDArray[np.uint32]
    low_hash_bits: NDArray[np.uint32]
    texts: bytes
    ids: bytes
    evaluation_overlaps: bytes
    keep_rule_strings: bytes


class RowWriter:
    """Appends rows to the files of a folder. Use it as a context manager.

    The content depends on the options and input files in `inputs`. `shard_rows` is the number of rows appended so far
    from each shard that has been started.
    """

    def __init__(self, folder: Path, inputs: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._inputs = dict(inputs)
        state = read_checkpoint(folder)
        sizes = state["sizes"] if state else dict.fromkeys(_FILE_NAMES, 0)
        self.shard_rows: list[int] = state["shard_rows"] if state else []
        self.is_complete: bool = bool(state and state["is_complete"])
        self._files: dict[str, IO[bytes]] = {}
        for part in _FILE_NAMES:
            file = (folder / f"{part}.bin").open("r+b" if (folder / f"{part}.bin").exists() else "w+b", 1 << 20)
            file.truncate(sizes[part])
            file.seek(sizes[part])
            self._files[part] = file
        self._sizes: dict[str, int] = sizes

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def append(self, shard: int, data: RowData) -> int:
        """Append the rows of a chunk. Returns the number of bytes that were written."""
        self.shard_rows += [0] * (shard + 1 - len(self.shard_rows))
        self.shard_rows[shard] += len(data.rows)
        written = 0
        numbers = (data.rows.tobytes(), data.token_ids.tobytes(), data.low_hash_bits.tobytes())
        contents = (*numbers, data.texts, data.ids, data.evaluation_overlaps, data.keep_rule_strings)
        for part, content in zip(_FILE_NAMES, contents, strict=True):
            self._files[part].write(content)
            self._sizes[part] += len(content)
            written += len(content)
        return written

    def checkpoint(self, *, is_complete: bool = False) -> None:
        """Write all rows to disk, and record the sizes of the files in the checkpoint."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        self.is_complete = is_complete
        state = {
            "format": FORMAT_VERSION,
            "description": self._inputs,
            "sizes": self._sizes,
            "shard_rows": self.shard_rows,
            "is_complete": is_complete,
        }
        write_atomically(self._folder / _CHECKPOINT, json.dumps(state).encode())


def read_checkpoint(folder: Path) -> Any:
    """Return the content of the checkpoint; None if there is none."""
    try:
        return json.loads((folder / _CHECKPOINT).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreError(
            f"{folder / _CHECKPOINT} is damaged ({error}); remove the folder {folder}, then run the command again"
        ) from None


class Rows:
    """All rows of a folder that is complete. They are read from disk when needed.

    The tokens are mapped into memory. Rows with at most MAX_TOKENS_WITH_LOW_BITS tokens have the lowest 32 bits of the
    hash of each token, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table: NDArray[np.void] = _map_file(folder / "rows.bin", ROW_DTYPE)
        self.token_ids: NDArray[np.uint32] = _map_file(folder / "codes.bin", np.dtype(np.uint32))
        self.low_hash_bits: NDArray[np.uint32] = _map_file(folder / "extensions.bin", np.dtype(np.uint32))
        # offsets of the rows 0, 32, 64, ... in texts.bin; the offsets of all rows would need much memory
        text_bytes = self.column("text_bytes").astype(np.int64)
        self._text_block_offsets = (np.cumsum(text_bytes) - text_bytes)[::_ROWS_PER_BLOCK].copy()
        self._id_ends: Ints | None = None
        self._texts = (folder / "texts.bin").open("rb", buffering=0)
        self._ids = (folder / "ids.bin").open("rb", buffering=0)
        self._runs = (folder / "runs.bin").open("rb", buffering=0)

    def __len__(self) -> int:
        return len(self._table)

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self._texts.close()
        self._ids.close()
        self._runs.close()

    def column(self, name: str, half: int | None = None) -> NDArray[Any]:
        """Return the values of all rows in a field of `ROW_DTYPE`, or one half of a hash.

        The values of one row are adjacent in the mapped file, so reading one field loads all pages. They are released
        after each part.
        """
        field = self._table[name] if half is None else self._table[name][:, half]
        values = np.empty(field.shape, field.dtype)
        for part in slices(len(field), _ROWS_AT_ONCE):
            values[part] = field[part]
            release_memory(self._table)
        return values

    def text(self, row: int) -> str:
        """Return the text of a row; empty if it was not compared."""
        return next(self.texts(np.array([row])))

    def texts(self, row_numbers: AnyInts) -> Iterator[str]:
        """Yield the texts of rows."""
        all_sizes = self._table["text_bytes"]
        for part in slices(len(row_numbers), _TEXTS_AT_ONCE):
            blocks, places = np.divmod(row_numbers[part], _ROWS_PER_BLOCK)
            within = np.arange(_ROWS_PER_BLOCK)
            is_before = within < places[:, None]
            sizes_before = all_sizes[np.where(is_before, blocks[:, None] * _ROWS_PER_BLOCK + within, 0)]
            begins = self._text_block_offsets[blocks] + np.where(is_before, sizes_before, 0).sum(axis=1, dtype=np.int64)
            sizes = all_sizes[row_numbers[part]]
            release_memory(self._table)
            for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True):
                yield _read_at(self._texts, begin, size).decode()

    def id(self, row: int) -> Any:
        """Return the id of a row, or None without an id column."""
        if self._id_ends is None:
            self._id_ends = np.cumsum(self.column("id_bytes"), dtype=np.int64)
        size = int(self._table["id_bytes"][row])
        return json.loads(_read_at(self._ids, int(self._id_ends[row]) - size, size)) if size else None

    def read_evaluation_overlaps(self) -> dict[int, tuple[str, str]]:
        """Map each row in runs.bin to the name of the evaluation text and the consecutive words that they share."""
        numbers = np.flatnonzero(self.column("run_bytes"))
        ends = np.cumsum(self._table["run_bytes"][numbers], dtype=np.int64)
        found: dict[int, tuple[str, str]] = {}
        for number, end in zip(numbers.tolist(), ends.tolist(), strict=True):
            size = int(self._table["run_bytes"][number])
            name, words = json.loads(_read_at(self._runs, end - size, size))
            found[number] = (name, words)
        return found

    def read_parts(self, is_wanted: Bools) -> Iterator[RowData]:
        """Yield the rows for which `is_wanted` is true, without the values in keeps.bin and runs.bin."""
        ends = np.zeros((4, 1), np.int64)  # in codes.bin, extensions.bin, texts.bin and ids.bin
        for part in slices(len(self), _ROWS_PER_PART):
            table = self._table[part]
            low_bits_counts = count_tokens_with_low_bits(table["tokens"])
            sizes = np.array([table["tokens"], low_bits_counts, table["text_bytes"], table["id_bytes"]], np.int64)
            ends = ends[:, -1:] + np.cumsum(sizes, axis=1)
            numbers = np.flatnonzero(is_wanted[part])
            if len(numbers):
                is_first = np.diff(numbers, prepend=-2) != 1
                first, last = numbers[is_first], numbers[np.append(is_first[1:], True)]
                begins_of_runs, ends_of_runs = (ends - sizes)[:, first].tolist(), ends[:, last].tolist()
                token_ids, low_bits, texts, ids = (
                    list(map(slice, *spans)) for spans in zip(begins_of_runs, ends_of_runs, strict=True)
                )
                records = table[numbers].copy()
                records["keep"] = records["keep_kind"] = records["run_bytes"] = 0
                yield RowData(
                    records,
                    np.concatenate([self.token_ids[span] for span in token_ids]),
                    np.concatenate([self.low_hash_bits[span] for span in low_bits]),
                    b"".join(_read_at(self._texts, span.start, span.stop - span.start) for span in texts),
                    b"".join(_read_at(self._ids, span.start, span.stop - span.start) for span in ids),
                    b"",
                    b"",
                )
            for mapped in (self._table, self.token_ids, self.low_hash_bits):
                release_memory(mapped)

    def read_keep_rule_strings(self) -> Any:
        """Return the strings in keeps.bin as an Arrow array."""
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency

        rows = np.flatnonzero(self.column("keep_kind") == STRING)
        offsets = np.append(0, np.cumsum(self._table["keep"][rows], dtype=np.int64))
        data = (self._folder / "keeps.bin").read_bytes()
        return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(data))


def count_tokens_with_low_bits(token_counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """For each row, return the number of its tokens whose low hash bits are in extensions.bin."""
    counts = token_counts.astype(np.int64)
    counts[counts > MAX_TOKENS_WITH_LOW_BITS] = 0
    return counts


def copy_rows(source: Path, target: Path, inputs: Mapping[str, Any], row_count: int) -> None:
    """Copy the files of a folder that is complete. The copy is one shard, and other shards can be appended."""
    target.mkdir(parents=True, exist_ok=True)
    for part in _FILE_NAMES:
        shutil.copyfile(source / f"{part}.bin", target / f"{part}.bin")
    state = read_checkpoint(source)
    state |= {"description": dict(inputs), "shard_rows": [row_count], "is_complete": False}
    write_atomically(target / _CHECKPOINT, json.dumps(state).encode())


def _map_file(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.zeros(0, dtype)


def _read_at(file: IO[bytes], offset: int, size: int) -> bytes:
    if hasattr(os, "pread"):
        data = os.pread(file.fileno(), size, offset)
        if len(data) == size:
            return data
    file.seek(offset)
    return b"".join(iter(lambda: file.read(min(size, 1 << 20)), b"")) if size > 1 << 30 else file.read(size)
