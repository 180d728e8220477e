"""A month of an application, in a short form: after each step every command answers as comparing all texts does."""

from __future__ import annotations

import pytest

from simdoc_search.devengine import Cluster
from tests.living.month import Size, month, play
from tests.support.living import has_data_streams

SHORT = Size(rollover=20, documents=50, sources=1)


@pytest.mark.slow
def test_a_month_of_an_alias(elasticsearch_7_url: str) -> None:
    """With rollovers, all ways of writing, a reindexed index and a snapshot."""
    with month(elasticsearch_7_url, SHORT) as played:
        play(played, print)


@pytest.mark.slow
def test_a_month_of_a_data_stream(opensearch_url: str) -> None:
    """The free Elasticsearch has none."""
    assert has_data_streams(opensearch_url)
    with month(opensearch_url, SHORT, is_stream=True) as played:
        play(played, print)


@pytest.mark.slow
def test_a_month_on_three_nodes(three_nodes: Cluster) -> None:
    """An alias in OpenSearch; each index has three shards and a replica of each."""
    with month(three_nodes.url, Size(rollover=20, documents=50, sources=1, shards=3, replicas=1)) as played:
        play(played, print)
