"""Groups of documents from pairs of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.groups.components import components, members_of

EDGES = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=25)


def naive(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Each label is handed over one edge after the other, until nothing changes."""
    labels = list(range(count))
    changed = True
    while changed:
        before = list(labels)
        for a, b in edges:
            labels[a] = labels[b] = min(labels[a], labels[b])
        changed = before != labels
    return labels


@given(EDGES)
def test_connected_components_have_the_smallest_number_of_their_members(edges: list[tuple[int, int]]) -> None:
    """Whatever the order of the edges."""
    ends = np.array(edges, np.int64).reshape(-1, 2).T

    assert naive(20, edges) == components(20, ends[0], ends[1]).tolist()


def test_a_long_chain_is_one_group() -> None:
    """In few rounds, though its labels cross 100,000 edges."""
    order = np.random.default_rng(1).permutation(100_000)
    labels = components(100_000, order[:-1], order[1:])

    assert not labels.any()
    assert [100_000] == [len(each) for each in members_of(labels)]


def test_groups_of_one_are_none() -> None:
    """The largest group comes first, then that of the smallest number."""
    found = members_of(np.array([0, 1, 2, 1, 0, 5, 5, 5]))

    assert [[5, 6, 7], [0, 4], [1, 3]] == [each.tolist() for each in found]
    assert [] == members_of(np.zeros(0, np.int64))
