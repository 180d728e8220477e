"""What goes wrong between us and an engine, as one sentence each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simdoc_search.cancellation import StoppedError
from simdoc_search.display import printable
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError


class RequestError(StoreError):
    """The engine answered a request with an error.

    Attributes:
        status: the HTTP status.
        kind: the engine's name of the error, like `index_not_found_exception`; empty if it said none.
        index: the closed index that the error is of; empty: it is another error.
    """

    def __init__(self, message: str, status: int, kind: str = "", index: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.kind, self.index)


class TooLargeError(StoreError):
    """An answer is larger than we take."""

    def __init__(self, message: str = "the answer is larger than we take") -> None:
        super().__init__(message)


def translated(name: str, error: Exception, *, owned: bool = True) -> Exception:
    """The error of a client as one of ours; one that is no answer to a request, but a fault in the code, as it is.

    Args:
        name: what messages call the engine.
        error: what the client raised.
        owned: whether the client is ours.
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return refusal(name, status, getattr(error, "info", None) or getattr(error, "body", None))
    kind = type(error)
    if ours := _within(error):
        return ours
    if not kind.__module__.startswith(_CLIENTS):
        return is_no_engine(name) if _raised_by_client(error) else error
    if "Serialization" in kind.__name__ or "UnsupportedProduct" in kind.__name__:
        return is_no_engine(name)
    return unavailable(name, error, owned=owned)


def _within(error: BaseException | None) -> Exception | None:
    """The error of ours that a client wrapped, as it does with whatever ends a request."""
    while error is not None:
        if isinstance(error, (TooLargeError, StoppedError)):
            return error
        error = error.__cause__ or error.__context__
    return None


def _raised_by_client(error: Exception) -> bool:
    """Whether a client tripped over an answer that is JSON and not of the form that it expects."""
    frame = None
    trace = error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
    return frame is not None and str(frame.f_globals.get("__name__")).startswith((*_CLIENTS, "json"))


def refusal(name: str, status: int, info: object) -> StoreError:
    """An answer with an error status; `info` is its body."""
    kind, reason = reason_in(info)
    error = info.get("error", info) if isinstance(info, Mapping) else {}
    index = error.get("index") if isinstance(error, Mapping) else None
    if kind == CLOSED and index:
        return closed_index(name, one_line(index), status)
    if kind == "index_not_found_exception" and status not in (401, 403):
        return StoreNotFoundError(f"{name} has {reason}; correct its name, or index some documents into it first")
    return RequestError(f"{name} {_refusal(status, kind, reason)}", status, kind)


def _refusal(status: int, kind: str, reason: str) -> str:
    """What an engine does instead of what was asked for, and what to do."""
    if kind == "cluster_block_exception" and (block := block_in(reason)):
        return f"writes nothing: {block}"
    if status == 401:
        return "does not accept the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
    if status == 403:
        return f"forbids it ({reason}); ask for the permission"
    if 300 <= status < 400:
        return "sends us elsewhere, where we do not go; name that address"
    if lost := re.search(r"missing shards (\[\[.*\]\])", reason):
        return f"has no copy of the shards {lost[1]}; see GET _cat/shards, and ask again when they are there"
    return f"answers {status}: {reason}"


def closed_index(name: str, index: str, status: int = 400) -> RequestError:
    """What is said where nothing else than closed indices is asked."""
    named = f"the index {index}" if "," not in index else f"each of the indices {index}"
    how = f"open it with POST /{index.replace(' ', '')}/_open"
    return RequestError(f"{named} of {name} is closed; {how}", status, CLOSED, index)


def block_in(reason: str) -> str:
    """What an engine says of an index that nothing can be written into, and what to do; empty where it says no such."""
    found = re.search(r"index \[([^\]]+)\] blocked by: \[\w+/(\d+)/", reason)
    if found is None or found[2] not in _BLOCKS:
        return ""
    full = ", which a full disk sets: make room" if found[2] == "12" else ""
    setting = f"index.blocks.{_BLOCKS[found[2]]}"
    how = f'PUT /{found[1]}/_settings {{"{setting}": null}}'
    return f"the index {found[1]} is read-only by {setting}{full}; lift that with {how}, then run it again"


def unavailable(name: str, error: object, *, owned: bool = True) -> StoreUnavailableError:
    """An engine that cannot be reached, why, and what to do. The arguments are those of `translated`."""
    beneath = getattr(error, "__context__", None) or ""  # all that Elasticsearch's says with asyncio
    text = (
        f"{type(error).__name__} {getattr(error, 'info', '')} {getattr(error, 'errors', '')} {error} {beneath}".lower()
    )
    text = re.sub(r"\bssl:\w+ ", "", text)  # so aiohttp names each address
    found = (rest for signs, *rest in _CAUSES if re.search(signs, text))
    why, cure = next(found, ("connection lost", "start it, or check the address"))
    longer = "set SIMDOC_TIMEOUT to more seconds" if owned else "give your client a longer timeout"
    return StoreUnavailableError(f"{name} does not answer ({why}); {cure.format(longer=longer)}")


def is_no_engine(name: str, why: str = "") -> StoreError:
    """Something answers, and not as an engine does; `why` is how we know."""
    seen = f" ({why})" if why else ""
    return StoreError(f"what answers at {name} is no OpenSearch or Elasticsearch{seen}; check the address")


def reason_in(info: object) -> tuple[str, str]:
    """The engine's name of an error, and what it says."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
        below = cause.get("caused_by")
        if not cause.get("reason") and isinstance(below, Mapping):
            cause = below
        return one_line(cause.get("type", "")), one_line(cause.get("reason", cause))
    text = one_line(error)
    return "", "no reason given" if not text or text.startswith("<") else text


def one_line(text: object) -> str:
    """What an engine says, in one line of at most 300 characters that steers no terminal."""
    return printable(" ".join(str(text or "").split()))[:300]


CLOSED = "index_closed_exception"

_BLOCKS = {"5": "read_only", "8": "write", "12": "read_only_allow_delete"}
"""Numbers of blocks, as engines have them."""

_CLIENTS = ("opensearchpy", "elastic")
"""How the modules of the clients begin."""

_CAUSES = (
    ("expired", "its certificate has expired", "renew it"),
    (
        "hostname mismatch|doesn't match|ip address mismatch|not valid for",
        "its certificate is another host's",
        "check the address",
    ),
    ("certificate_required|certificate required", "it wants a certificate of ours", "set SIMDOC_CLIENT_CERT"),
    ("certificate|self.signed", "its certificate is not trusted", "name its authority with SIMDOC_CA_FILE"),
    ("wrong_version_number|wrong version number|record layer", "it does not speak TLS", "write http instead of https"),
    ("ssl|tls", "no secure connection", "check the address and its certificate"),
    ("timed out|timeout", "it took too long", "try again later, or {longer}"),
    ("refused|connect call failed", "connection refused", "start it, or check the address"),
    ("resolution|resolve|name or service|nodename|getaddrinfo", "no such host", "check the address"),
)
"""What the messages of clients and sockets mean, by a sign in them, and what to do."""
