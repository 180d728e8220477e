"""Tests of the arrays that hold the fingerprints of many documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simdoc_search.duplicates import fingerprint_table as module
from simdoc_search.duplicates import key_files
from simdoc_search.sketch.estimate import compare_token_ids
from tests.support.fingerprints import pair, shingles, table


@pytest.mark.parametrize("one_matrix", [True, False])
def test_counts_of_many_pairs_are_those_of_single_pairs(one_matrix: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one matrix for all documents, or one for each slice of pairs."""
    monkeypatch.setattr(module, "_MAX_MATRIX_CELLS", 1 << 20 if one_matrix else 0)
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 7)
    rng = np.random.default_rng(1)
    sets = [side for size in (2, 4, 41, 901) for overlap in (0.0, 0.4, 1.0) for side in pair(rng, size, overlap)]
    sets = [side for side in sets if len(side)]
    made = table(sets)
    first, second = np.triu_indices(len(sets), 1)
    jaccard, _ = made.estimate_jaccard(first, second)
    token_ids = [made.token_ids_of_documents(np.array([number]))[0] for number in range(len(sets))]

    assert [
        compare_token_ids(token_ids[a], token_ids[b]).overlap for a, b in zip(first, second, strict=True)
    ] == jaccard.tolist()


def test_band_keys_are_equal_for_equal_fingerprints_only() -> None:
    rng = np.random.default_rng(2)
    one, other = shingles(rng, 300), shingles(rng, 300)
    keys = list(table([one, one, other]).band_keys(np.arange(3), 3, 20))

    assert 20 == len(keys)
    assert all(a == b != c for a, b, c in keys)


def test_a_band_continues_with_the_first_tokens_after_the_last() -> None:
    """If a document has two tokens, a band with three rows has both tokens and the first one again."""
    few = shingles(np.random.default_rng(3), 2)

    assert 2 == len({int(keys[0]) for keys in table([few]).band_keys(np.arange(1), 3, 8)})


def test_band_keys_with_low_bits_differ_if_only_the_low_bits_of_tokens_differ() -> None:
    token_ids = np.arange(0, 512 * 512, 4096, dtype=np.uint32)  # 64 tokens in different buckets
    counts, begins = np.array([64, 64]), np.array([0, 64])
    low_bits = np.append(np.zeros(64, np.uint32), np.ones(64, np.uint32))
    made = module.FingerprintTable(np.tile(token_ids, 2), begins, counts, counts, 512, (low_bits, begins))
    documents = np.array([1, 0])

    assert all(keys[0] == keys[1] for keys in made.band_keys(documents, 3, 10))
    assert all(keys[0] != keys[1] for keys in made.band_keys(documents, 3, 10, with_low_bits=True))


def test_band_keys_in_a_file_are_those_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    made = table([shingles(rng, int(size)) for size in rng.integers(1, 400, 50)])
    monkeypatch.setattr(module, "_DOCUMENTS_AT_ONCE", 20)
    monkeypatch.setattr(module, "_DOCUMENTS_IN_CACHE", 7)
    in_memory = list(made.band_keys(np.arange(50), 3, 10))
    monkeypatch.setattr(key_files, "_MAX_BYTES_IN_MEMORY", 0)

    assert all((a == b).all() for a, b in zip(in_memory, made.band_keys(np.arange(50), 3, 10), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say how much memory is mapped")
def test_a_mapped_table_needs_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_MAPPED_BYTES", 1 << 20)
    count = 40_000
    token_ids = np.tile(np.arange(0, 512 * 512, 1024, dtype=np.uint32), count)  # 256 tokens, 41 MB in all
    (tmp_path / "token_ids").write_bytes(token_ids.tobytes())
    counts = np.full(count, 256)
    begins = np.random.default_rng(4).permutation(count) * 256
    in_memory = module.FingerprintTable(token_ids, begins, counts, counts, 512)
    mapped_token_ids = np.memmap(tmp_path / "token_ids", np.uint32, "r")
    mapped = module.FingerprintTable(mapped_token_ids, begins, counts, counts, 512)
    documents = np.arange(count)
    before = _mapped_megabytes()
    keys = list(mapped.band_keys(documents, 6, 4))
    matrix = mapped.bucket_matrix(documents[::5])

    assert _mapped_megabytes() - before < 12
    assert all((a == b).all() for a, b in zip(keys, in_memory.band_keys(documents, 6, 4), strict=True))
    assert (matrix == in_memory.bucket_matrix(documents[::5])).all()
    assert token_ids.tobytes() == mapped_token_ids.tobytes()
    assert _mapped_megabytes() - before > 30


def _mapped_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssFile", "RssShmem"))) / 1000
