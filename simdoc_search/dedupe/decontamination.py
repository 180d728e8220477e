"""Finds rows that contain a run of N consecutive words (an n-gram) of an evaluation set.

The hash of every run of N words of the evaluation texts is looked up in every row, so no run is missed. If two hashes
are equal, the words are compared, so no row is removed by chance.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingle_batch
from simdoc_search.analysis.words import WordBatch, strings, word_batch
from simdoc_search.dedupe.arrow_files import ArrowShard
from simdoc_search.dedupe.chunks import rows_with_strings
from simdoc_search.dedupe.shards import Shard, open_dataset
from simdoc_search.duplicates.arrays import slices
from simdoc_search.durable import atomic_file
from simdoc_search.errors import CorpusError, QuerySyntaxError
from simdoc_search.sketch.hashing import hash_shingles

DEFAULT_RUN_WORDS = 13
_TEXTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Counts of the texts in an evaluation set.

    A short text has fewer words than a run, so it cannot be found. `short_text_names` are the first 100 of them, as
    `FILE:ROW`.
    """

    text_count: int
    short_text_count: int
    short_text_names: Sequence[str]


class EvaluationNgrams:
    """The n-grams (runs of N words) of an evaluation set, in a file that worker processes read.

    `write_evaluation_ngrams` writes the file. An n-gram has `run_words` words.
    """

    def __init__(self, path: Path, run_words: int, analysis: Analysis) -> None:
        self._path, self._run_words = path, run_words
        self._analysis = replace(analysis, shingle_size=run_words, short_texts=False)
        self._load()

    def __getstate__(self) -> dict[str, Any]:
        return {"_path": self._path, "_run_words": self._run_words, "_analysis": self._analysis}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._load()

    def _load(self) -> None:
        with np.load(self._path) as stored:
            self._hashes: NDArray[np.uint64] = stored["hashes"]
            self._texts: NDArray[np.int64] = stored["texts"]
            self._places: NDArray[np.int64] = stored["places"]
            self._words: list[list[str]] = json.loads(str(stored["words"]))
            self._names: list[str] = json.loads(str(stored["names"]))

    def find_overlaps(self, texts: Sequence[str]) -> list[bytes]:
        """For each text, find an evaluation text that shares a run with it.

        Return the name of this evaluation text and the shared words as JSON; empty if there is none.
        """
        found = [b""] * len(texts)
        batch, hashes, owners, firsts = _hash_runs(texts, self._analysis)
        position = np.searchsorted(self._hashes, hashes)
        position[position == len(self._hashes)] = 0
        matches = np.flatnonzero(self._hashes[position] == hashes) if len(self._hashes) else position[:0]
        ends = np.cumsum(batch.counts)
        for match in matches.tolist():
            owner = int(owners[match])
            if not found[owner]:
                words = slice(int(firsts[match]), int(ends[owner]))
                own = strings(batch.units, batch.starts[words], batch.ends[words])
                found[owner] = self._find_shared_run(own, int(position[match]))
        return found

    def _find_shared_run(self, words: list[str], position: int) -> bytes:
        """Find an evaluation text that contains the first run of these words, by its hash and then by its words.

        `position` is the position of the hash in the sorted hashes. Return the name of the text and all shared words
        from the run on, as JSON; empty if no text contains the run.
        """
        for entry in range(position, len(self._hashes)):
            if self._hashes[entry] != self._hashes[position]:
                break
            text = int(self._texts[entry])
            other = self._words[text][int(self._places[entry]) :]
            length = next((n for n, (a, b) in enumerate(zip(words, other, strict=False)) if a != b), None)
            length = min(len(words), len(other)) if length is None else length
            if length >= self._run_words:
                return json.dumps([self._names[text], " ".join(words[:length])]).encode()
        return b""


def write_evaluation_ngrams(
    sources: Sequence[str | os.PathLike[str]], path: Path, run_words: int, analysis: Analysis
) -> EvaluationReport:
    """Write all n-grams of an evaluation set to a file for `EvaluationNgrams`.

    Every string in a row is a separate text: a question, an answer, or each of several choices.

    Raises:
        CorpusError: the evaluation set cannot be read, or each of its texts has fewer than `run_words` words.
        QuerySyntaxError: the number of words is not valid.
    """
    if run_words < 1:
        raise QuerySyntaxError(f"run_words must be at least 1, not {run_words}")
    names, texts = [], []
    for source in sources:
        for name, text in _read_texts(source):
            names.append(name)
            texts.append(text)
    plain = replace(analysis, shingle_size=run_words, short_texts=False)
    hashes, owners, places, words = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
    short = []
    for part in slices(len(texts), _TEXTS_AT_ONCE):
        batch, run_hashes, run_owners, firsts = _hash_runs(texts[part], plain)
        begins = np.cumsum(batch.counts) - batch.counts
        hashes.append(run_hashes)
        owners.append(run_owners + part.start)
        places.append(firsts - begins[run_owners])
        for number, (begin, count) in enumerate(zip(begins.tolist(), batch.counts.tolist(), strict=True), part.start):
            span = slice(begin, begin + count)
            words.append(strings(batch.units, batch.starts[span], batch.ends[span]))
            if count < run_words:
                short.append(number)
    all_hashes, all_owners, all_places = np.concatenate(hashes), np.concatenate(owners), np.concatenate(places)
    if not len(all_hashes):
        raise CorpusError(
            f"no text of the evaluation set has {run_words} words or more; choose a smaller number with --run-words"
        )
    order = np.argsort(all_hashes, kind="stable")
    with atomic_file(path) as file:
        np.savez(
            file, hashes=all_hashes[order], texts=all_owners[order], places=all_places[order],
            words=np.array(json.dumps(words)), names=np.array(json.dumps(names)),
        )  # fmt: skip
    return EvaluationReport(len(texts), len(short), [names[number] for number in short[:100]])


def _hash_runs(
    texts: Sequence[str], analysis: Analysis
) -> tuple[WordBatch, NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of the texts, and for each run its hash, the index of its text, and that of its first word."""
    batch = word_batch(list(texts), analysis)
    runs = shingle_batch(batch, analysis)
    owners = np.repeat(np.arange(len(texts)), runs.counts)
    firsts = np.searchsorted(batch.starts, runs.starts)
    return batch, hash_shingles(runs, None)[0], owners, firsts


def _read_texts(source: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    for shard in open_dataset(source).shards:
        for number, row in enumerate(_read_rows(shard)):
            for text in _find_strings(row):
                yield f"{shard.name}:{number}", text


def _read_rows(shard: Shard) -> Iterator[Any]:
    if isinstance(shard, ArrowShard):
        for batch in shard.batches():
            yield from rows_with_strings(batch)
    else:
        for records in shard.record_lists():
            yield from shard.parse(records)


def _find_strings(value: Any) -> Iterator[str]:
    """Yield all strings in a row, however nested they are."""
    if isinstance(value, str):
        yield value.encode("utf-8", "replace").decode()
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _find_strings(inner)
