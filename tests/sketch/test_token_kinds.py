"""Advice on how to add a kind of tokens to a store."""

from __future__ import annotations

from simdoc_search.sketch.token_kinds import TOKEN_KINDS


def test_the_advice_depends_on_the_kind_and_the_store() -> None:
    versions, passages = TOKEN_KINDS["sentences"], TOKEN_KINDS["passages"]

    expected = "add them with: simdoc-search index --with versions --store 'my store'"
    assert expected == versions.how_to_add("my store")
    assert "open the index again with settings that include sentences" == versions.how_to_add(":memory:")
    assert "index the documents again into a new index" == passages.how_to_add("my store")
