"""Makes clients that send each request only once. Clients for our own connections also limit the size of an answer."""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from logging import getLogger
from typing import Any

from simdoc_search.errors import MissingExtraError
from simdoc_search.stores.remote.errors import TooLargeError, one_line
from simdoc_search.stores.remote.retry import seconds_from_environment

CONNECTIONS = 8

TIMEOUT = 60.0
"""Seconds that a client waits for data."""

TIMEOUT_VARIABLE = "SIMDOC_TIMEOUT"
"""The environment variable that replaces TIMEOUT."""

LARGEST_ANSWER = 1 << 28
"""Maximum bytes of an answer. Engines limit a document to 100 MB, and a page that is too large is split."""

_log = getLogger("simdoc_search")


def timeout_seconds() -> float:
    """Return SIMDOC_TIMEOUT, or TIMEOUT. Raises StoreError if the variable is not a number of seconds."""
    seconds = seconds_from_environment(TIMEOUT_VARIABLE, advice=f"write {TIMEOUT:.0f}", minimum=0.001)
    return TIMEOUT if seconds is None else seconds


def opensearch_client(hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, timeout: float) -> Any:
    """Return a client for OpenSearch. Raises MissingExtraError if opensearch-py is not installed."""
    try:
        from opensearchpy import OpenSearch, Urllib3HttpConnection  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(f"the store on {hosts[0]}", "opensearch") from error

    class Connection(Urllib3HttpConnection):
        def _create_urllib3_pool(self) -> None:
            super()._create_urllib3_pool()
            self.pool: Any = _BoundedPool(self.pool)

        def log_request_fail(self, *_: Any, **__: Any) -> None:
            """Log nothing, as our own error reports the failure."""

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
    """Return a client for Elasticsearch. Raises MissingExtraError if it is not installed."""
    try:
        from elastic_transport import Urllib3HttpNode  # noqa: PLC0415 - an extra
        from elasticsearch import Elasticsearch  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"the Elasticsearch store on {hosts[0]}", "elasticsearch") from error

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
        connections_per_node=CONNECTIONS,
        node_class=Node,
    )


def without_retries(client: Any) -> Any:
    """Return a client that sends each request only once, over the connections of an application's client."""
    if hasattr(client, "options"):  # Elasticsearch 8 and later
        return client.options(max_retries=0)
    other = copy(client)
    other.transport = copy(client.transport)
    other.transport.max_retries = 0
    return other


def count_nodes(client: Any) -> int:
    """Return how many nodes a client knows. After a failure the client uses the next node."""
    transport: Any = getattr(client, "transport", None)
    if hasattr(transport, "node_pool"):  # Elasticsearch 8 and later
        return len(transport.node_pool)
    return len(getattr(transport, "hosts", None) or [None])


def is_asynchronous(client: Any) -> bool:
    """Return whether the requests of a client are coroutines."""
    senders = (client, getattr(client, "transport", None))
    return any(inspect.iscoroutinefunction(getattr(sender, "perform_request", None)) for sender in senders)


@dataclass(frozen=True, slots=True)
class _Response:
    """The parts of a response that the clients read."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class _BoundedPool:
    """A urllib3 connection pool that limits answers to LARGEST_ANSWER, and logs the engine's warnings."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def urlopen(self, method: str, url: str, body: bytes | None = None, **options: Any) -> _Response:
        """Send a request as urllib3 does. Raises TooLargeError if the answer exceeds LARGEST_ANSWER."""
        response = self._pool.urlopen(method, url, body=body, preload_content=False, **options)
        data = bytearray()
        try:
            while part := response.read(1 << 20, decode_content=False):
                data += part
                if len(data) > LARGEST_ANSWER:
                    raise TooLargeError
        except BaseException:
            response.close()  # the next request must not read the rest of this answer
            raise
        finally:
            response.release_conn()
        headers = response.headers.copy()
        for warning in headers.getlist("warning"):
            _log.info("the engine warns: %s", one_line(warning))
        headers.pop("warning", None)  # the clients would print it with its control characters
        return _Response(response.status, headers, bytes(data))

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()
