"""Turns the errors of engines and their clients into errors of ours. Each message is one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simdoc_search.display import printable
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError

CLOSED = "index_closed_exception"

_BLOCKS = {"5": "read_only", "8": "write", "12": "read_only_allow_delete"}
"""The index setting of each block, by the number that the engine gives it."""

_CLIENTS = ("opensearchpy", "elastic")
"""Prefixes of the names of the clients' modules."""

_CAUSES = (
    ("expired", "its certificate has expired", "renew it"),
    (
        "hostname mismatch|doesn't match|ip address mismatch|not valid for",
        "its certificate is for another host",
        "check the address",
    ),
    ("certificate_required|certificate required", "it requires a client certificate", "set SIMDOC_CLIENT_CERT"),
    (
        "certificate|self.signed",
        "its certificate is not trusted",
        "set SIMDOC_CA_FILE to the certificate of its authority",
    ),
    ("wrong_version_number|wrong version number|record layer", "it does not speak TLS", "use http instead of https"),
    ("ssl|tls", "the TLS connection failed", "check the address and its certificate"),
    ("timed out|timeout", "it took too long", "try again later, or {longer}"),
    ("refused|connect call failed", "connection refused", "start it, or check the address"),
    ("resolution|resolve|name or service|nodename|getaddrinfo", "no such host", "check the address"),
)
"""Patterns in the messages of clients and sockets, each with the cause and what to do."""


class RequestError(StoreError):
    """The engine answered a request with an error.

    Attributes:
        status: HTTP status.
        kind: the engine's name for the error, such as `index_not_found_exception`; empty if it gave none.
        index: the closed index that caused the error, if any.
    """

    def __init__(self, message: str, status: int, kind: str = "", index: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.index = index


class TooLargeError(StoreError):
    """An answer is larger than `clients.LARGEST_ANSWER`."""

    def __init__(self, message: str = "the answer is larger than 256 MB") -> None:
        super().__init__(message)


def from_client(name: str, error: Exception, *, owned: bool) -> Exception:
    """Convert an error of a client to an error of ours; return any other error unchanged.

    Args:
        name: name of the engine in messages.
        error: what the client raised.
        owned: whether we made the client.
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return from_answer(name, status, getattr(error, "info", None) or getattr(error, "body", None))
    if too_large := _too_large_within(error):
        return too_large
    kind = type(error)
    if not kind.__module__.startswith(_CLIENTS):
        return error
    if "Serialization" in kind.__name__ or "UnsupportedProduct" in kind.__name__:
        return not_an_engine(name)
    return unavailable(name, error, owned=owned)


def from_answer(name: str, status: int, body: object) -> StoreError:
    """Return the error for an answer with an error status. `name` is the name of the engine."""
    kind, reason = reason_in(body)
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    index = error.get("index") if isinstance(error, Mapping) else None
    if kind == CLOSED and index:
        return closed_index(name, one_line(index), status)
    if kind == "index_not_found_exception" and status not in (401, 403):
        return StoreNotFoundError(f"{name} has {reason}; check the name, or index documents into it first")
    return RequestError(f"{name} {_what_happened(status, kind, reason)}", status, kind)


def closed_index(name: str, index: str, status: int = 400) -> RequestError:
    """Return the error for a request to closed indices only; `index` may be a list with commas."""
    is_one = "," not in index
    what = f"the index {index} of {name} is" if is_one else f"the indices {index} of {name} are"
    how = f"open {'it' if is_one else 'them'} with POST /{index.replace(' ', '')}/_open"
    return RequestError(f"{what} closed; {how}", status, CLOSED, index)


def unavailable(name: str, error: object, *, owned: bool = True) -> StoreUnavailableError:
    """Return the error for an engine that does not answer. The arguments are those of `from_client`."""
    context = getattr(error, "__context__", None) or ""  # the only detail that Elasticsearch's client for asyncio gives
    details = f"{getattr(error, 'info', '')} {getattr(error, 'errors', '')} {error} {context}"
    text = re.sub(
        r"\bssl:\w+ ", "", f"{type(error).__name__} {details}".lower()
    )  # aiohttp writes this before each address
    causes = (rest for pattern, *rest in _CAUSES if re.search(pattern, text))
    cause, cure = next(causes, ("connection lost", "start it, or check the address"))
    longer = "set SIMDOC_TIMEOUT to more seconds" if owned else "give your client a longer timeout"
    return StoreUnavailableError(f"{name} does not answer ({cause}); {cure.format(longer=longer)}")


def not_an_engine(name: str, reason: str = "") -> StoreError:
    """Return the error for an answer that does not come from an engine."""
    shown = f" ({reason})" if reason else ""
    return StoreError(f"{name} is not an OpenSearch or Elasticsearch server{shown}; check the address")


def reason_in(body: object) -> tuple[str, str]:
    """Return the engine's name for an error and its reason, from the body of an answer."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
        below = cause.get("caused_by")
        if not cause.get("reason") and isinstance(below, Mapping):
            cause = below
        return one_line(cause.get("type", "")), one_line(cause.get("reason", cause))
    text = one_line(error)
    return "", "no reason given" if not text or text.startswith("<") else text


def write_block_in(reason: str) -> str:
    """Return the message for a write block that an engine reports; empty if it reports none."""
    match = re.search(r"index \[([^\]]+)\] blocked by: \[\w+/(\d+)/", reason)
    if match is None or match[2] not in _BLOCKS:
        return ""
    setting = f"index.blocks.{_BLOCKS[match[2]]}"
    cause, first = (" (set when a disk is full)", "free disk space, ") if match[2] == "12" else ("", "")
    how = f'{first}remove the block with PUT /{match[1]}/_settings {{"{setting}": null}}, and run the command again'
    return f"the index {match[1]} has the block {setting}{cause}; {how}"


def one_line(text: object) -> str:
    """Return a value from an engine as one printable line of at most 300 characters."""
    return printable(" ".join(str(text or "").split()))[:300]


def _what_happened(status: int, kind: str, reason: str) -> str:
    if kind == "cluster_block_exception" and (block := write_block_in(reason)):
        return f"refuses all writes: {block}"
    if status == 401:
        return "does not accept the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
    if status == 403:
        return f"does not allow the request ({reason}); ask its administrator for the permission"
    if 300 <= status < 400:
        return "redirects to another address, and redirects are not followed; use the other address"
    if missing := re.search(r"missing shards (\[\[.*\]\])", reason):
        return f"has no copy of the shards {missing[1]}; see GET _cat/shards, and try again when they are available"
    return f"answers {status}: {reason}"


def _too_large_within(error: BaseException | None) -> TooLargeError | None:
    """Return the TooLargeError that caused an error of a client, if any."""
    while error is not None and not isinstance(error, TooLargeError):
        error = error.__cause__ or error.__context__
    return error
