"""Texts that were made to look like any text are named by `check`."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from simdoc_search import Document, MinHash, Settings, SimilaritySearch
from simdoc_search.sketch.key import HashKey
from simdoc_search.stores import open_store
from tests.support.attack import crafted_words
from tests.support.cli import run
from tests.support.texts import documents, text


def test_check_names_texts_that_were_made_to_win(tmp_path: Path) -> None:
    """Honest ones beside them are not named, and the store is as it was written."""
    settings = Settings(minhash=MinHash(bucket_count=64))
    bad = Document("bad", f"{text(random.Random(1), 500)} {crafted_words(settings.minhash)}")
    with closing(open_store(tmp_path / "s", settings, create=True)) as store:
        SimilaritySearch(store).index([*documents("honest", 40, 300), bad])
    result = run("check", tmp_path / "s")

    why = "its words were chosen to look like any text (41 texts were looked at); look at it"
    assert (1, f"wrong: bad: {why}\n") == (result.exit_code, result.stdout)


def test_the_texts_of_a_keyed_store_are_not_looked_at_without_its_key(tmp_path: Path) -> None:
    """What else can be checked is; that these were not is said."""
    settings = Settings().with_key(HashKey("a key that nobody else knows"))
    with closing(open_store(tmp_path / "s", settings, create=True)) as store:
        SimilaritySearch(store).index(documents("honest", 5))
    result = run("check", tmp_path / "s")

    assert (0, f"{tmp_path / 's'} is as it was written: 5 documents\n") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("note: its texts were not looked at: ")
