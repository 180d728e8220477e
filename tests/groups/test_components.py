"""Tests of connected components."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.groups.components import find_connected_components, group_by_label


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=25))
def test_the_label_of_a_component_is_its_smallest_number(edges: list[tuple[int, int]]) -> None:
    labels, before = list(range(20)), None
    while before != labels:
        before = list(labels)
        for a, b in edges:
            labels[a] = labels[b] = min(labels[a], labels[b])
    ends = np.array(edges, np.int64).reshape(-1, 2).T

    assert labels == find_connected_components(20, ends[0], ends[1]).tolist()


def test_a_long_chain_is_one_component() -> None:
    order = np.random.default_rng(1).permutation(100_000)
    labels = find_connected_components(100_000, order[:-1], order[1:])

    assert not labels.any()
    assert [100_000] == [len(group) for group in group_by_label(labels)]


def test_groups_have_at_least_two_members_and_are_ordered_by_size() -> None:
    assert [[5, 6, 7], [0, 4], [1, 3]] == [
        group.tolist() for group in group_by_label(np.array([0, 1, 2, 1, 0, 5, 5, 5]))
    ]
    assert [] == group_by_label(np.zeros(0, np.int64))
