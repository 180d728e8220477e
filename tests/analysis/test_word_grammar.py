"""The word grammar is asked only for rules that can apply."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.word_grammar import classes, rules, rules_by_class


@given(st.lists(st.integers(0, len(classes().properties) - 1), min_size=1, max_size=6).map(bytes))
def test_a_rule_that_matches_is_tried(kinds: bytes) -> None:
    """At a character of each class those rules are tried with which a word of it can begin."""
    matching = [rule for rule in rules() if re.match(rule, kinds, re.DOTALL)]
    tried = [pattern.pattern for pattern in rules_by_class()[kinds[0]]]

    assert set(matching) <= set(tried)
