"""Runs an OpenSearch cluster on this machine, for development and tests.

    with running_cluster(nodes=3) as cluster:
        cluster.urls          # ['http://127.0.0.1:9213', 'http://127.0.0.1:9214', 'http://127.0.0.1:9215']
        cluster.kill(2)       # as in a crash

The package needs the extra `engine`. The cluster listens on 127.0.0.1 and has no password. Do not use it in production.
"""

from __future__ import annotations

from simdoc_search.devengine.cluster import (
    Cluster,
    ClusterStatus,
    find_cluster,
    find_running_clusters,
)
from simdoc_search.devengine.common import DevEngineError
from simdoc_search.devengine.startup import find_free_port, running_cluster, start_cluster

__all__ = [
    "Cluster",
    "ClusterStatus",
    "DevEngineError",
    "find_cluster",
    "find_free_port",
    "find_running_clusters",
    "running_cluster",
    "start_cluster",
]
