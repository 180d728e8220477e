"""A store that no test changes. Tests damage copies of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import HASH_BITS
from simdoc_search.stores import open_store
from tests.support.stores import put, record

DOCUMENTS = 120


@pytest.fixture(scope="session")
def intact_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two segments with all kinds of tokens, and with replaced and deleted documents."""
    folder = tmp_path_factory.mktemp("stores") / "whole"
    random_token_ids = np.random.default_rng(7)

    def one_in_some_slots() -> list[int]:
        token_ids = random_token_ids.integers(0, 1 << HASH_BITS, 512) | np.arange(512) << HASH_BITS
        return [int(code) for code in random_token_ids.choice(token_ids, 200, replace=False)]

    with closing(
        open_store(folder, Settings(sentences=SentenceSettings(), concepts=ConceptSettings()), create=True)
    ) as store:
        for part in range(2):
            put(
                store,
                *(
                    record(
                        f"d/{part}-{n}.txt" if n % 9 else f"d/{n}.txt",
                        token_ids=one_in_some_slots(),
                        text=f"text {part} {n} \ud800 " * 40,
                        passages={int(code) for code in random_token_ids.integers(0, 2**25, 20)},
                        sentences=random_token_ids.integers(0, 2**63, 6).tolist() * 2,
                        concepts=[*random_token_ids.integers(1, 2**30, 9).tolist(), 0, 7, 0] if n else [],
                        year=n,
                    )
                    for n in range(DOCUMENTS // 2)
                ),
            )
        with store.writer() as writer:
            writer.delete(["d/0-1.txt", "d/1-5.txt"])
    return folder
