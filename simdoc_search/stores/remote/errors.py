"""Converts errors of the engine and its client libraries into `StoreError`s. Each message is one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simdoc_search.display import printable
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError

INDEX_CLOSED = "index_closed_exception"
"""The error type for a request to a closed index."""

_BLOCK_SETTINGS = {"5": "read_only", "8": "write", "12": "read_only_allow_delete"}
"""The index setting of each write block, by the block id in the engine's messages."""

_CLIENT_MODULES = ("opensearchpy", "elastic")
"""Prefixes of the module names of the client libraries."""

_CAUSES = (
    ("expired", "the certificate has expired", "renew the certificate"),
    (
        "hostname mismatch|doesn't match|ip address mismatch|not valid for",
        "the certificate is for another host",
        "check the host name in the URL",
    ),
    (
        "certificate_required|certificate required",
        "the server requires a client certificate",
        "set SIMDOC_CLIENT_CERT to the path of this certificate",
    ),
    (
        "certificate|self.signed",
        "the certificate is not trusted",
        "set SIMDOC_CA_FILE to the path of the CA certificate",
    ),
    (
        "wrong_version_number|wrong version number|record layer",
        "the server does not use TLS",
        "use http instead of https",
    ),
    ("ssl|tls", "the TLS connection failed", "check the URL and the certificate"),
    ("timed out|timeout", "the request took too long", "try again later, or {increase_timeout}"),
    ("refused|connect call failed", "connection refused", "start the engine, or check the URL"),
    ("resolution|resolve|name or service|nodename|getaddrinfo", "unknown host", "check the URL"),
)
"""Patterns in the messages of clients and sockets, each with the cause and the advice for the user."""


class RequestError(StoreError):
    """The engine returned an error, or not all shards responded.

    Attributes:
        status: HTTP status.
        error_type: the engine's error type, such as `index_not_found_exception`. It is empty if there is none.
        index: the closed index that caused the error, or a comma-separated list. It is empty for other errors.
    """

    def __init__(self, message: str, status: int, error_type: str = "", index: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.error_type = error_type
        self.index = index


class ResponseTooLargeError(StoreError):
    """A response is larger than `clients.MAX_RESPONSE_BYTES`."""

    def __init__(self, message: str = "the response is larger than 256 MiB; request fewer documents") -> None:
        super().__init__(message)


def error_from_client(engine_name: str, error: Exception, *, owns_client: bool) -> Exception:
    """Convert an error of a client library to a `StoreError`. Return any other error unchanged.

    `owns_client` says whether simdoc-search created the client. If so, environment variables set its timeout and its
    credentials.
    """
    if type(error).__name__ == "UnsupportedProductError":  # its status is that of a successful response
        return StoreError(
            f"{engine_name} is not an Elasticsearch server; omit --engine, or use the client opensearch-py"
        )
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        body = getattr(error, "info", None) or getattr(error, "body", None)
        return error_from_response(engine_name, status, body, owns_client=owns_client)
    if too_large := _find_response_too_large(error):
        return too_large
    error_class = type(error)
    if not error_class.__module__.startswith(_CLIENT_MODULES):
        return error
    if "Serialization" in error_class.__name__:
        return not_an_engine_error(engine_name)
    return unavailable_error(engine_name, error, owns_client=owns_client)


def error_from_response(engine_name: str, status: int, body: object, *, owns_client: bool = True) -> StoreError:
    """Return the error for a response with an error status. For `owns_client`, see `error_from_client`."""
    error_type, reason = error_type_and_reason(body)
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    index = error.get("index") if isinstance(error, Mapping) else None
    if error_type == INDEX_CLOSED and index:
        return closed_index_error(engine_name, one_line(index), status)
    if error_type == "index_not_found_exception" and status not in (401, 403):
        return StoreNotFoundError(f"{engine_name} has {reason}; check the name of the index, or create the index first")
    if status == 401:
        variables = "set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
        advice = variables if owns_client else "check the credentials of your client"
        return RequestError(f"{engine_name} rejected the credentials; {advice}", status, error_type)
    return RequestError(f"{engine_name} {_describe_error(status, error_type, reason)}", status, error_type)


def closed_index_error(engine_name: str, index: str, status: int = 400) -> RequestError:
    """Return the error for a request if all of its indices are closed. `index` may be a comma-separated list."""
    is_one = "," not in index
    problem = f"the index {index} of {engine_name} is" if is_one else f"the indices {index} of {engine_name} are"
    advice = f"open {'it' if is_one else 'them'} with `POST /{index.replace(' ', '')}/_open`"
    return RequestError(f"{problem} closed; {advice}", status, INDEX_CLOSED, index)


def unavailable_error(engine_name: str, error: object, *, owns_client: bool = True) -> StoreUnavailableError:
    """Return the error for an engine that does not respond. Its message contains the cause and the advice."""
    context = getattr(error, "__context__", None) or ""  # Elasticsearch's asyncio client gives no other details
    details = f"{getattr(error, 'info', '')} {getattr(error, 'errors', '')} {error} {context}"
    # aiohttp writes `ssl:default` or similar before each host, even for http.
    text = re.sub(r"\bssl:\w+ ", "", f"{type(error).__name__} {details}".lower())
    matches = (rest for pattern, *rest in _CAUSES if re.search(pattern, text))
    cause, advice = next(matches, ("connection lost", "start the engine, or check the URL"))
    increase_timeout = "increase SIMDOC_TIMEOUT" if owns_client else "increase the timeout of your client"
    advice = advice.format(increase_timeout=increase_timeout)
    return StoreUnavailableError(f"no response from {engine_name}: {cause}; {advice}")


def not_an_engine_error(engine_name: str, reason: str = "") -> StoreError:
    """Return the error for a response that does not come from an engine."""
    shown = f" ({reason})" if reason else ""
    return StoreError(f"{engine_name} is not an OpenSearch or Elasticsearch server{shown}; check the URL")


def error_type_and_reason(body: object) -> tuple[str, str]:
    """Return the error type and the reason in the body of a response. The error type is empty if there is none."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
        nested = cause.get("caused_by")
        if not cause.get("reason") and isinstance(nested, Mapping):
            cause = nested
        return one_line(cause.get("type", "")), one_line(cause.get("reason", cause))
    text = one_line(error)
    return "", "no reason given" if not text or text.startswith("<") else text


def write_block_message(reason: str) -> str:
    """Return the message for a write block that an engine reports; empty if `reason` does not name a write block."""
    match = re.search(r"index \[([^\]]+)\] blocked by: \[\w+/(\d+)/", reason)
    if match is None or match[2] not in _BLOCK_SETTINGS:
        return ""
    setting = f"index.blocks.{_BLOCK_SETTINGS[match[2]]}"
    cause, first_step = (", usually because the disk is full", "free disk space, ") if match[2] == "12" else ("", "")
    remove_block = f'remove the block with `PUT /{match[1]}/_settings {{"{setting}": null}}`'
    return (
        f"the index {match[1]} is read-only ({setting}){cause}; {first_step}{remove_block}, and run the command again"
    )


def one_line(text: object) -> str:
    """Return a value from a response as one printable line of at most 300 characters."""
    return printable(" ".join(str(text or "").split()))[:300]


def _describe_error(status: int, error_type: str, reason: str) -> str:
    """Return the description of an error. The caller puts the name of the engine before it."""
    if error_type == "cluster_block_exception" and (block := write_block_message(reason)):
        return f"rejected the write: {block}"
    if status == 403:
        return f"denied the request ({reason}); ask an administrator for this permission"
    if 300 <= status < 400:
        return "redirects to another URL; use that URL, because simdoc-search does not follow redirects"
    if missing := re.search(r"missing shards (\[\[.*\]\])", reason):
        return (
            f"has no available copy of the shards {missing[1]}; try again when these shards are available (see "
            "`GET _cat/shards`)"
        )
    return f"returned status {status}: {reason}"


def _find_response_too_large(error: BaseException | None) -> ResponseTooLargeError | None:
    """Return the `ResponseTooLargeError` that caused a client error, or None."""
    while error is not None and not isinstance(error, ResponseTooLargeError):
        error = error.__cause__ or error.__context__
    return error
