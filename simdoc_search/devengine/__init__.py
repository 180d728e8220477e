"""OpenSearch on this machine, from Python packages alone: for development, for tests, for trying things out.

    with running_cluster(nodes=3) as cluster:
        cluster.urls          # ['http://127.0.0.1:9213', 'http://127.0.0.1:9214', 'http://127.0.0.1:9215']
        cluster.kill(2)       # as a crash would

packages.py   where do Java and OpenSearch come from?
node.py       one process: ports, configuration, answers, log
cluster.py    nodes together: status, kill, restart, stop
startup.py    how a cluster is started, and only once
Launcher.java what the process of a node runs
registry.py   what is on disk, so that later commands find it
processes.py  processes that outlive the one that started them
common.py     what these share

It listens at 127.0.0.1 only and asks for no password. In production the engine is your own cluster.
"""

from __future__ import annotations

from simdoc_search.devengine.cluster import DEFAULT_PORT, Cluster, NodeStatus, Status, find, find_all
from simdoc_search.devengine.common import EngineError, OnStep
from simdoc_search.devengine.startup import free_port, running_cluster, start

__all__ = [
    "DEFAULT_PORT",
    "Cluster",
    "EngineError",
    "NodeStatus",
    "OnStep",
    "Status",
    "find",
    "find_all",
    "free_port",
    "running_cluster",
    "start",
]
