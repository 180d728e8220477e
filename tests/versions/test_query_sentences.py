"""With which sentences is a document asked about?"""

from __future__ import annotations

import numpy as np

from simdoc_search.versions.query_sentences import MAX_QUERIED, query_sentences


def test_a_short_document_is_asked_about_with_all() -> None:
    """Each sentence once."""
    assert [1, 5, 9] == sorted(query_sentences(np.array([9, 1, 5, 1, 9], np.uint64)).tolist())
    assert 0 == len(query_sentences(np.zeros(0, np.uint64)))


def test_of_a_long_one_some_are_chosen_that_are_everywhere() -> None:
    """The same of the same sentences, in whatever order; a tenth of the document has one of them but once in 850."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        values = rng.integers(0, 2**63, 500).astype(np.uint64)
        asked = query_sentences(values)
        missed += not np.isin(asked, values[:50]).any()

        assert len(asked) == MAX_QUERIED
        assert asked.tolist() == query_sentences(values[::-1]).tolist()
    assert missed <= 5
    assert 1 / 900 < 0.9**MAX_QUERIED < 1 / 800
