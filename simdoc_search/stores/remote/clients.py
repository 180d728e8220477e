"""Creates clients that send each request only once. Clients that simdoc-search creates also limit the response size."""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from logging import getLogger
from typing import Any

from simdoc_search.errors import MissingExtraError
from simdoc_search.stores.remote.errors import ResponseTooLargeError, one_line
from simdoc_search.stores.remote.retry import seconds_from_environment

MAX_CONNECTIONS_PER_NODE = 8
"""Maximum number of connections per node."""

DEFAULT_TIMEOUT_SECONDS = 60.0
"""Default number of seconds that a client waits for data."""

TIMEOUT_VARIABLE = "SIMDOC_TIMEOUT"
"""The environment variable that overrides DEFAULT_TIMEOUT_SECONDS."""

MAX_RESPONSE_BYTES = 1 << 28
"""Maximum size of a response in bytes. A larger page of hits is read in smaller pages."""

_log = getLogger("simdoc_search")


def read_timeout_seconds() -> float:
    """Return SIMDOC_TIMEOUT, or the default if it is not set. Raises StoreError if it is not a valid number."""
    seconds = seconds_from_environment(
        TIMEOUT_VARIABLE,
        advice=f"set {TIMEOUT_VARIABLE} to a number such as {DEFAULT_TIMEOUT_SECONDS:.0f}",
        minimum=0.001,
    )
    return DEFAULT_TIMEOUT_SECONDS if seconds is None else seconds


def create_opensearch_client(
    hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, timeout: float
) -> Any:
    """Return a client for OpenSearch. Raises MissingExtraError if opensearch-py is not installed."""
    try:
        from opensearchpy import OpenSearch, Urllib3HttpConnection  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError(f"the index on {hosts[0]}", "opensearch") from error

    class Connection(Urllib3HttpConnection):
        def _create_urllib3_pool(self) -> None:
            super()._create_urllib3_pool()
            self.pool: Any = _BoundedPool(self.pool)

        def log_request_fail(self, *_: Any, **__: Any) -> None:
            """Log nothing, because the raised StoreError reports the failure."""

    return OpenSearch(
        hosts,
        headers=dict(headers),
        ssl_context=tls,
        timeout=timeout,
        max_retries=0,
        pool_maxsize=MAX_CONNECTIONS_PER_NODE,
        connection_class=Connection,
    )


def create_elasticsearch_client(
    hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, timeout: float
) -> Any:
    """Return a client for Elasticsearch. Raises MissingExtraError if elasticsearch is not installed."""
    try:
        from elastic_transport import Urllib3HttpNode  # noqa: PLC0415 - an optional dependency
        from elasticsearch import Elasticsearch  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"the Elasticsearch index on {hosts[0]}", "elasticsearch") from error

    class Node(Urllib3HttpNode):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.pool: Any = _BoundedPool(self.pool)

    return Elasticsearch(
        hosts,
        headers=headers,
        ssl_context=tls,
        request_timeout=timeout,
        max_retries=0,
        connections_per_node=MAX_CONNECTIONS_PER_NODE,
        node_class=Node,
    )


def copy_without_retries(client: Any) -> Any:
    """Return a copy of an application's client that sends each request only once. Both use the same connections."""
    if hasattr(client, "options"):  # Elasticsearch 8 and later
        return client.options(max_retries=0)
    other = copy(client)
    other.transport = copy(client.transport)
    other.transport.max_retries = 0
    return other


def count_nodes(client: Any) -> int:
    """Return the number of nodes that a client knows. After a failure, the client uses the next node."""
    transport: Any = getattr(client, "transport", None)
    if hasattr(transport, "node_pool"):  # Elasticsearch 8 and later
        return len(transport.node_pool)
    return len(getattr(transport, "hosts", None) or [None])


def first_node_url(client: Any) -> str:
    """Return the URL of the first node that a client knows, without credentials. If it has none, return a description.

    An asynchronous client may know no node before its first request.
    """
    transport: Any = getattr(client, "transport", None)
    if hasattr(transport, "node_pool"):  # Elasticsearch 8 and later
        urls = [node.base_url for node in transport.node_pool.all()]
    else:
        connections = getattr(getattr(transport, "connection_pool", None), "connections", ())
        urls = [f"{connection.host}{connection.url_prefix}" for connection in connections]
    return next(iter(urls), "the engine")


def is_asynchronous(client: Any) -> bool:
    """Return whether a client sends requests as coroutines."""
    senders = (client, getattr(client, "transport", None))
    return any(inspect.iscoroutinefunction(getattr(sender, "perform_request", None)) for sender in senders)


@dataclass(frozen=True, slots=True)
class _Response:
    """The parts of a response that the client libraries read."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class _BoundedPool:
    """A urllib3 connection pool that limits responses to MAX_RESPONSE_BYTES and logs the engine's warnings."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def urlopen(self, method: str, url: str, body: bytes | None = None, **options: Any) -> _Response:
        """Send a request as urllib3 does. Raises ResponseTooLargeError if the response exceeds MAX_RESPONSE_BYTES."""
        response = self._pool.urlopen(method, url, body=body, preload_content=False, **options)
        data = bytearray()
        try:
            while block := response.read(1 << 20, decode_content=False):
                data += block
                if len(data) > MAX_RESPONSE_BYTES:
                    raise ResponseTooLargeError
        except BaseException:
            response.close()  # the next request must not read the rest of this response
            raise
        finally:
            response.release_conn()
        headers = response.headers.copy()
        for warning in headers.getlist("warning"):
            _log.info("the engine warns: %s", one_line(warning))
        headers.pop("warning", None)  # the client libraries would print control characters in it
        return _Response(response.status, headers, bytes(data))

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()
