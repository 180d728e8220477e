"""The shards of a dataset: one file, or the files of a folder in the order of their names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simdoc_search.dedupe.arrow_files import ArrowShard
from simdoc_search.dedupe.formats import format_of, import_pyarrow, require_format
from simdoc_search.dedupe.records import CsvShard, JsonlShard
from simdoc_search.errors import CorpusError

Shard = ArrowShard | JsonlShard | CsvShard


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset in files.

    `shards` are its data files, in the order of their names. The paths of the other files are relative to the folder.
    """

    path: Path
    shards: Sequence[Shard]
    other_files: Sequence[str]

    @property
    def is_folder(self) -> bool:
        """Whether the dataset is a folder."""
        return self.path.is_dir()


def open_dataset(path: str | os.PathLike[str]) -> Dataset:
    """Return the shards of a file or a folder. Hidden files are ignored.

    Raises:
        CorpusError: the path does not exist, or has no files in a known format.
        MissingExtraError: pyarrow is not installed.
    """
    import_pyarrow()
    root = Path(path)
    if not root.is_dir():
        if not root.is_file():
            raise CorpusError(f"{root} does not exist; give a file, or a folder of shards")
        return Dataset(root, [_open_shard(root, root.name)], [])
    shards: list[Shard] = []
    others = []
    for name in sorted(_list_files(root)):
        if format_of(root / name) is None:
            others.append(name)
        else:
            shards.append(_open_shard(root / name, name))
    if not shards:
        raise CorpusError(f"{root} has no Parquet, JSONL, CSV or Arrow files; give a folder with a dataset")
    return Dataset(root, shards, others)


def _open_shard(path: Path, name: str) -> Shard:
    file_format = require_format(path)
    if file_format.format == "jsonl":
        return JsonlShard(path, name, file_format)
    return CsvShard(path, name, file_format) if file_format.format == "csv" else ArrowShard(path, name, file_format)


def _list_files(root: Path) -> list[str]:
    return [
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]
