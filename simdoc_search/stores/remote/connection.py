"""From an address to a client: which engine answers there, with which credentials and certificates.

Everything secret comes from the environment, so that no process list shows it:

    SIMDOC_USERNAME, SIMDOC_PASSWORD      basic authentication
    SIMDOC_API_KEY                        an API key, base64 as the engine gave it
    SIMDOC_CA_FILE                        the certificates to trust instead of the system's
    SIMDOC_CLIENT_CERT, SIMDOC_CLIENT_KEY a certificate of our own, and its key if that is in another file
"""

from __future__ import annotations

import base64
import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError, MissingExtraError, StoreError
from simdoc_search.stores.location import ENGINES, EngineKind, check_address
from simdoc_search.stores.remote.bounded_requests import BoundedPool, timeout_seconds
from simdoc_search.stores.remote.clients import elasticsearch_client, opensearch_client
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import TooLargeError, unavailable


@dataclass(frozen=True)
class _Access:
    """How we are let in. Nothing of it is ever shown."""

    basic: tuple[str, str] | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


def connect(url: str, *, engine: EngineKind | None = None, index: bool = True) -> tuple[Engine, str]:
    """A client of our own for `http(s)://host:port[,host:port]/index`.

    Args:
        url: the address.
        engine: `opensearch` or `elasticsearch`; None: whichever answers.
        index: whether the address ends in an index; else it is the engine's alone.

    Returns:
        The engine and the name of the index, or an empty one.

    Raises:
        ValueError: no such engine is known.
        LocationError: the address cannot be understood, or holds a password.
        StoreError: a certificate cannot be read, or SIMDOC_TIMEOUT is not a number of seconds.
        StoreUnavailableError: nobody answers.
        MissingExtraError: the client for this engine is not installed.
    """
    if engine not in (None, *ENGINES):
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    check_address(url)
    hosts, name = split_url(url if index else f"{url.rstrip('/')}/_")
    access = _access(url)
    kind = engine or _who_answers(hosts, access)
    make = opensearch_client if kind == "opensearch" else elasticsearch_client
    tls = _tls(access) if hosts[0].startswith("https") else None
    client = make([_with_port(host) for host in hosts], _headers(access), tls, timeout_seconds())
    return Engine(client, hosts[0], owned=True, answered=engine is None), name if index else ""


def split_url(url: str) -> tuple[list[str], str]:
    """The addresses of the nodes, and the index.

    Raises:
        LocationError: the URL names no host or no index, or it holds a password.
    """
    shown = without_credentials(url)
    if ":" in _user(url):
        raise LocationError(
            f"the address {shown} holds a password, which process lists show; set SIMDOC_USERNAME and SIMDOC_PASSWORD"
        )
    try:
        parts = urlsplit(url)
        prefix, _, index = parts.path.strip("/").rpartition("/")
        places = parts.netloc.rpartition("@")[2]
        hosts = [f"{parts.scheme}://{place}{'/' + prefix if prefix else ''}" for place in places.split(",")]
        fine = all(urlsplit(host).hostname and urlsplit(host).port != 0 and _is_plain(host) for host in hosts)
    except ValueError:  # its message may hold the password
        fine = False
    if not fine:
        raise LocationError(f"{shown} is not an address of an engine; write http://host:port/index")
    if not index or parts.query or parts.fragment:
        raise LocationError(f"{shown} names no index; write http://host:port/index")
    return hosts, unquote(index)


def _is_plain(host: str) -> bool:
    """Whether a host has no characters that none has, and at which clients fail, each in its own way."""
    return host.isprintable() and " " not in host


def _access(url: str) -> _Access:
    user = unquote(_user(url)) or os.environ.get("SIMDOC_USERNAME")
    files = {name: os.environ.get(f"SIMDOC_{name.upper()}") for name in ("ca_file", "client_cert", "client_key")}
    for name, file in files.items():
        if file and not Path(file).is_file():
            raise StoreError(f"SIMDOC_{name.upper()} names {file}, which is no file; correct it")
    key = os.environ.get("SIMDOC_API_KEY")
    if key and not (key.isascii() and key.isprintable()):
        raise StoreError("SIMDOC_API_KEY has characters that no key has; set it to what the engine gave, in one line")
    basic = (user, os.environ.get("SIMDOC_PASSWORD", "")) if user and not key else None
    return _Access(basic, key, **files)


def _who_answers(hosts: list[str], access: _Access) -> EngineKind:
    """The engine at the first host that answers; a refusal (403, 405) of its greeting is an answer too."""
    try:
        import urllib3  # noqa: PLC0415 - both clients bring it
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"the engine at {hosts[0]}", "opensearch,elasticsearch") from missing
    error: Exception | None = None
    seconds = timeout_seconds()
    for host in hosts:
        path, tls = urlsplit(host).path, {"ssl_context": _tls(access)} if host.startswith("https") else {}
        with urllib3.connection_from_url(host, timeout=seconds, **tls) as pool:
            try:
                bounded = BoundedPool(pool, seconds)
                answer = bounded.urlopen("GET", f"{path}/", headers=_headers(access), retries=False, redirect=False)
            except (urllib3.exceptions.HTTPError, TooLargeError) as failed:
                error = failed
                continue
            return _kind(answer.headers, answer.data)
    raise unavailable(hosts[0], error) from error


def _kind(headers: Mapping[str, str], body: bytes) -> EngineKind:
    """Elasticsearch says who it is in a header since 7.14, before that in its greeting."""
    if headers.get("X-Elastic-Product") == "Elasticsearch":
        return "elasticsearch"
    try:
        greeting = json.loads(body)
        version = greeting["version"]
        is_elastic = "distribution" not in version and "lucene_version" in version
        # The client of 8 refuses servers before 7.14, and that of OpenSearch, which began as 7.10, speaks with them.
        return "elasticsearch" if is_elastic and int(version["number"].split(".")[0]) >= 8 else "opensearch"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "opensearch"


def _headers(access: _Access) -> dict[str, str]:
    if access.api_key:
        return {"authorization": f"ApiKey {access.api_key}"}
    if access.basic:
        return {"authorization": f"Basic {base64.b64encode(':'.join(access.basic).encode()).decode()}"}
    return {}


def _tls(access: _Access) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise StoreError(f"SIMDOC_CA_FILE cannot be used ({error}); it is a PEM file of certificates") from None
    if access.client_cert:
        try:
            context.load_cert_chain(access.client_cert, access.client_key)
        except (OSError, ssl.SSLError) as error:
            raise StoreError(f"SIMDOC_CLIENT_CERT cannot be used ({error}); it is a PEM file, with its key") from None
    return context


def _with_port(host: str) -> str:
    """The address with the port of its scheme; a client has a default of its own."""
    parts = urlsplit(host)
    port = {"http": 80, "https": 443}[parts.scheme]
    return host if parts.port else f"{parts.scheme}://{parts.netloc}:{port}{parts.path}"


def _user(url: str) -> str:
    """What stands before the last @, were it part of a password that ought to have been quoted."""
    return url.partition("://")[2].rpartition("@")[0]
