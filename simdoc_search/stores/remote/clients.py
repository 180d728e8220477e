"""The clients of the engines, as we use them: each request is sent once, and, by ours, answers are bounded."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from copy import copy
from typing import Any

from simdoc_search.errors import MissingExtraError
from simdoc_search.stores.remote.bounded_requests import BoundedPool

CONNECTIONS = 8


def opensearch_client(hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, timeout: float) -> Any:
    """A client for OpenSearch.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from opensearchpy import OpenSearch, Urllib3HttpConnection  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(f"the store on {hosts[0]}", "opensearch") from error

    class Connection(Urllib3HttpConnection):
        def _create_urllib3_pool(self) -> None:
            super()._create_urllib3_pool()
            self.pool: Any = BoundedPool(self.pool, timeout)

        def log_request_fail(self, *_: Any, **__: Any) -> None:
            """What goes wrong is said once, by us."""

    return OpenSearch(
        hosts,
        headers=dict(headers),
        ssl_context=tls,
        timeout=timeout,
        max_retries=0,
        pool_maxsize=CONNECTIONS,
        connection_class=Connection,
    )


def elasticsearch_client(
    hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, timeout: float
) -> Any:
    """A client for Elasticsearch.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from elastic_transport import Urllib3HttpNode  # noqa: PLC0415 - an extra
        from elasticsearch import Elasticsearch  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"the Elasticsearch store on {hosts[0]}", "elasticsearch") from error

    class Node(Urllib3HttpNode):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.pool: Any = BoundedPool(self.pool, timeout)

    return Elasticsearch(
        hosts,
        headers=headers,
        ssl_context=tls,
        request_timeout=timeout,
        max_retries=0,
        connections_per_node=CONNECTIONS,
        node_class=Node,
    )


def unrepeating(client: Any) -> Any:
    """A client that sends each request once, over the connections of another one, which stays as it is."""
    if hasattr(client, "options"):  # Elasticsearch's, since 8
        return client.options(max_retries=0)
    other = copy(client)
    other.transport = copy(client.transport)
    other.transport.max_retries = 0
    return other


def count_nodes(client: Any) -> int:
    """How many nodes a client knows; it asks another one after one did not answer."""
    transport: Any = getattr(client, "transport", None)
    if hasattr(transport, "node_pool"):  # Elasticsearch's, since 8
        return len(transport.node_pool)
    return len(getattr(transport, "hosts", None) or [None])
