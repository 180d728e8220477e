"""Keys and tokens are stored in temporary files if there are many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simdoc_search.duplicates import key_files as module
from simdoc_search.duplicates import temporary_files
from simdoc_search.duplicates.arrays import Keys
from simdoc_search.duplicates.key_files import KeyMatrix, regroup_by_key
from simdoc_search.errors import StoreError


def write_matrix(keys: Keys) -> None:
    with KeyMatrix(1, len(keys)) as matrix:
        matrix.write_columns(0, keys[None])


def regroup(keys: Keys) -> None:
    list(regroup_by_key([(keys, np.arange(len(keys)))], len(keys)))


def append_tokens(keys: Keys) -> None:
    tokens = temporary_files.TokenBuffer(0)
    tokens.append(keys.astype(np.uint32))
    tokens.read()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("store", [write_matrix, regroup, append_tokens])
def test_a_full_disk_is_an_error_that_names_the_folder(
    store: Callable[[Keys], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_BYTES_IN_MEMORY", 0)
    monkeypatch.setattr(module, "_KEYS_AT_ONCE", 10)
    monkeypatch.setattr(temporary_files, "TemporaryFile", lambda prefix: Path("/dev/full").open("w+b"))  # noqa: ARG005, SIM115

    with pytest.raises(StoreError, match=r"cannot write a temporary file in .*: No space left.* TMPDIR"):
        store(np.arange(100, dtype=np.uint64))
