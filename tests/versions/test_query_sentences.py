"""Sentences of a document are chosen for queries."""

from __future__ import annotations

import numpy as np

from simdoc_search.versions.query_sentences import MAX_QUERY_SENTENCES, choose_query_sentences, select_rare_sentences


def test_all_sentences_of_a_short_document_are_queried_once() -> None:
    assert [1, 5, 9] == sorted(choose_query_sentences(np.array([9, 1, 5, 1, 9], np.uint64)).tolist())
    assert 0 == len(choose_query_sentences(np.zeros(0, np.uint64)))


def test_the_queried_sentences_of_a_long_document_only_depend_on_its_sentences() -> None:
    """A version with a tenth of the sentences has none of the queried ones in one of 850 cases."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        values = rng.integers(0, 2**63, 500).astype(np.uint64)
        queried = choose_query_sentences(values)
        missed += not np.isin(queried, values[:50]).any()

        assert len(queried) == MAX_QUERY_SENTENCES
        assert queried.tolist() == choose_query_sentences(values[::-1]).tolist()
    assert missed <= 5
    assert 1 / 900 < 0.9**MAX_QUERY_SENTENCES < 1 / 800


def test_rare_sentences_are_in_few_documents() -> None:
    rare, common = np.array([0x0123456789ABCDEF], np.uint64), np.array([0x5555AAAA3333CCCC], np.uint64)
    both = np.concatenate((rare, common))
    documents = [both, *[common] * 20]

    assert rare.tolist() == select_rare_sentences(both, documents, 2).tolist()
    assert common.tolist() == select_rare_sentences(common, documents, 2).tolist()
