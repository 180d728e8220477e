"""A store that was created with a secret key can only be opened with this key."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.key import HASH_KEY_VARIABLE, HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from tests.support.cli import output, run, sentence
from tests.support.stores import NewStore

SECRET, OTHER = "a secret of many characters", "another secret of many characters"
DOCUMENTS = [
    Document("draft", "The quick brown fox jumps over the lazy dog near the bank of the river."),
    Document("final", "The quick brown fox jumps over the lazy cat near the bank of the river."),
    Document("other", "Nothing in this sentence has five words in a row from the others."),
]


def test_a_store_with_a_key_has_other_tokens_and_finds_the_same_documents(new_store: NewStore) -> None:
    keyed, plain = (SimilaritySearch(new_store(Settings().with_key(key))) for key in (HashKey(SECRET), None))
    for search in (keyed, plain):
        search.index(DOCUMENTS)
    record, other = (search.store.get("draft") for search in (keyed, plain))

    assert record is not None
    assert other is not None
    assert set() == set(record.token_ids.tolist()) & set(other.token_ids.tolist())
    for query in ("draft", "draft_20", "draft_20_80"):
        assert (
            ["final"] == [hit.id for hit in keyed.similar(query).hits] == [hit.id for hit in plain.similar(query).hits]
        )
    assert ["draft", "final"] == sorted(hit.id for hit in keyed.similar(text=DOCUMENTS[0].text, overlap=0.2).hits)


def test_a_folder_with_a_key_can_only_be_opened_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files contain no secret."""
    monkeypatch.delenv(HASH_KEY_VARIABLE, raising=False)
    SimilaritySearch(open_store(tmp_path / "s", create=True, hash_key=SECRET)).index(DOCUMENTS, workers=2)
    written = b"".join(file.read_bytes() for file in (tmp_path / "s").rglob("*") if file.is_file())

    assert SECRET.encode() not in written
    assert HashKey(SECRET).checksum.encode() in written
    assert Settings().with_key(HashKey(SECRET)) == open_store(tmp_path / "s", hash_key=SECRET).settings
    with pytest.raises(
        FormatMismatchError, match="was created with a secret hash key; set SIMDOC_HASH_KEY to this key"
    ):
        open_store(tmp_path / "s")
    with pytest.raises(FormatMismatchError, match="was created with a different hash key") as caught:
        open_store(tmp_path / "s", hash_key=OTHER)
    assert OTHER not in str(caught.value) + repr(caught.value.found) + repr(caught.value.expected)
    with pytest.raises(StoreError, match="at least 16 characters"):
        open_store(tmp_path / "s", hash_key="short")
    open_store(tmp_path / "unkeyed", create=True).close()
    with pytest.raises(FormatMismatchError, match="was created without a hash key; unset SIMDOC_HASH_KEY"):
        open_store(tmp_path / "unkeyed", hash_key=SECRET)


def test_a_key_can_be_an_argument_or_a_part_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HASH_KEY_VARIABLE, raising=False)
    settings = Settings(sketch=MinHash(bucket_count=256))
    open_store(tmp_path / "a", settings, create=True, hash_key=SECRET).close()
    open_store(tmp_path / "b", settings.with_key(HashKey(SECRET)), create=True).close()
    for name in "ab":
        assert settings.with_key(HashKey(SECRET)) == open_store(tmp_path / name, settings, hash_key=SECRET).settings
    with pytest.raises(FormatMismatchError, match="sketches"):
        open_store(tmp_path / "a", Settings(), hash_key=SECRET)


def test_a_given_key_takes_precedence_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument comes first, then the settings. Settings that were read from a store have no key."""
    monkeypatch.setenv(HASH_KEY_VARIABLE, OTHER)
    keyed = Settings().with_key(HashKey(SECRET))
    open_store(tmp_path / "a", keyed, create=True).close()
    open_store(tmp_path / "b", create=True).close()

    assert keyed == open_store(tmp_path / "a", hash_key=SECRET).settings
    assert (
        keyed == open_store(tmp_path / "c", Settings().with_key(HashKey(OTHER)), create=True, hash_key=SECRET).settings
    )
    read = Settings.from_dict(Settings().with_key(HashKey(OTHER)).to_dict())
    known = open_store(tmp_path / "b", read).settings.sketch.key
    assert known is not None
    assert known.has_secret


def test_commands_take_the_key_from_the_environment_and_never_print_it(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for document in DOCUMENTS:
        (tmp_path / "corpus" / f"{document.id}.txt").write_text(document.text)
    store, key = tmp_path / "store", {HASH_KEY_VARIABLE: SECRET}
    output("index", tmp_path / "corpus", "--store", store, **key)
    outputs = output("similar", "draft_20", "--store", store, **key) + output("info", "--store", store, **key)
    outputs += output("info", "--store", store, "--json", **key)

    assert "final.txt" in outputs
    assert ", with SIMDOC_HASH_KEY" in outputs
    assert SECRET not in outputs
    assert "set SIMDOC_HASH_KEY to this key" in sentence(
        run("similar", "draft_20", "--store", store, **{HASH_KEY_VARIABLE: ""})
    )
    assert "a different hash key" in sentence(
        run("index", tmp_path / "corpus", "--store", store, **{HASH_KEY_VARIABLE: OTHER})
    )
    assert "--hash-key" not in output("index", "--help-all")
    assert HASH_KEY_VARIABLE in output("index", "--help-all")
