"""Connects to the engine at an address. Finds out which engine it is, and reads credentials and certificates.

Secrets come from the environment, so that they do not appear in process lists:

    SIMDOC_USERNAME, SIMDOC_PASSWORD      basic authentication
    SIMDOC_API_KEY                        an API key in base64, as the engine created it
    SIMDOC_CA_FILE                        the certificates to trust instead of the system's
    SIMDOC_CLIENT_CERT, SIMDOC_CLIENT_KEY a client certificate, and its key if it is in another file
"""

from __future__ import annotations

import base64
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError, MissingExtraError, StoreError
from simdoc_search.stores.location import ENGINES, EngineKind, check_url
from simdoc_search.stores.remote.clients import elasticsearch_client, opensearch_client, timeout_seconds
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import unavailable


def connect(url: str, *, engine: EngineKind | None = None, index: bool = True) -> tuple[Engine, str]:
    """Connect to `http(s)://host:port[,host:port]/index`.

    Args:
        url: the address.
        engine: `opensearch` or `elasticsearch`; None: ask the first host that answers.
        index: whether the address ends with the name of an index.

    Returns:
        The engine and the name of the index, or an empty name.

    Raises:
        ValueError: the name of the engine is unknown.
        LocationError: the address is malformed, or has a password.
        StoreError: a certificate cannot be read, or SIMDOC_TIMEOUT is not a number.
        StoreUnavailableError: no host answers.
        MissingExtraError: the client for this engine is not installed.
    """
    if engine not in (None, *ENGINES):
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    check_url(url)
    hosts, name = split_url(url if index else f"{url.rstrip('/')}/_")
    headers, tls = request_headers(url), tls_context() if url.lower().startswith("https") else None
    kind = engine or _detect_engine(hosts, headers, tls)
    make_client = opensearch_client if kind == "opensearch" else elasticsearch_client
    client = make_client([_with_port(host) for host in hosts], headers, tls, timeout_seconds())
    return Engine(client, hosts[0], owned=True, has_answered=engine is None), name if index else ""


def split_url(url: str) -> tuple[list[str], str]:
    """Return the addresses of the nodes, and the name of the index.

    Raises:
        LocationError: the URL has no host or no index, or it has a password.
    """
    shown = without_credentials(url)
    if ":" in _user(url):
        raise LocationError(
            f"the address {shown} has a password, which process lists show; remove it, and set SIMDOC_USERNAME and "
            "SIMDOC_PASSWORD"
        )
    try:
        parts = urlsplit(url)
        prefix, _, index = parts.path.strip("/").rpartition("/")
        places = parts.netloc.rpartition("@")[2]
        hosts = [f"{parts.scheme}://{place}{'/' + prefix if prefix else ''}" for place in places.split(",")]
        is_valid = all(urlsplit(host).hostname and urlsplit(host).port != 0 and _is_plain(host) for host in hosts)
    except ValueError:  # its message may contain the password
        is_valid = False
    if not is_valid:
        raise LocationError(f"{shown} is not the URL of an engine; use http://host:port/index")
    if not index or parts.query or parts.fragment:
        raise LocationError(f"{shown} does not end with the name of an index; use http://host:port/index")
    return hosts, unquote(index)


def request_headers(url: str) -> dict[str, str]:
    """Return the header with the credentials for an address; empty if there are none.

    Raises:
        StoreError: SIMDOC_API_KEY has characters that a header cannot contain.
    """
    if key := os.environ.get("SIMDOC_API_KEY"):
        if not (key.isascii() and key.isprintable()):
            raise StoreError(
                "SIMDOC_API_KEY has characters that an API key cannot have; set it to the engine's key, on one line"
            )
        return {"authorization": f"ApiKey {key}"}
    if user := unquote(_user(url)) or os.environ.get("SIMDOC_USERNAME"):
        credentials = f"{user}:{os.environ.get('SIMDOC_PASSWORD', '')}"
        return {"authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}
    return {}


def tls_context() -> ssl.SSLContext:
    """Return the TLS settings from the environment. Raises StoreError if a certificate file cannot be read."""
    files = {name: os.environ.get(name) for name in ("SIMDOC_CA_FILE", "SIMDOC_CLIENT_CERT", "SIMDOC_CLIENT_KEY")}
    authorities, certificate, key = files.values()
    for name, file in files.items():
        if file and not Path(file).is_file():
            raise StoreError(f"{name} is {file!r}, which is not a file; set it to the path of a PEM file")
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise StoreError(f"SIMDOC_CA_FILE cannot be used ({error}); set it to a PEM file of certificates") from None
    if certificate:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise StoreError(
                f"SIMDOC_CLIENT_CERT cannot be used ({error}); set it to a PEM file, and SIMDOC_CLIENT_KEY to its key"
            ) from None
    return context


def _detect_engine(hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None) -> EngineKind:
    """Return the kind of engine at the first host that answers, even with an error status such as 403."""
    try:
        import urllib3  # noqa: PLC0415 - both clients need it
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"the engine at {hosts[0]}", "opensearch,elasticsearch") from missing
    error: Exception | None = None
    options = {"ssl_context": tls} if tls else {}
    for host in hosts:
        with urllib3.connection_from_url(host, timeout=timeout_seconds(), **options) as pool:
            try:
                path = f"{urlsplit(host).path}/"
                answer = pool.request("GET", path, headers=headers, retries=False, redirect=False)
            except urllib3.exceptions.HTTPError as failed:
                error = failed
                continue
            return _kind_of_engine(answer.headers, answer.data)
    raise unavailable(hosts[0], error) from error


def _kind_of_engine(headers: Mapping[str, str], body: bytes) -> EngineKind:
    """Return the kind of engine, by the header that Elasticsearch sends since 7.14, or by the version in the answer."""
    if headers.get("X-Elastic-Product") == "Elasticsearch":
        return "elasticsearch"
    try:
        version = json.loads(body)["version"]
        is_elastic = "distribution" not in version and "lucene_version" in version
        # Elasticsearch's client 8 refuses servers before 7.14; OpenSearch's client works with them.
        return "elasticsearch" if is_elastic and int(version["number"].split(".")[0]) >= 8 else "opensearch"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "opensearch"


def _is_plain(host: str) -> bool:
    """Return whether a host has no characters that make the clients fail."""
    return host.isprintable() and " " not in host


def _with_port(host: str) -> str:
    """Return the address with an explicit port. The clients have other default ports than the schemes."""
    parts = urlsplit(host)
    port = {"http": 80, "https": 443}[parts.scheme]
    return host if parts.port else f"{parts.scheme}://{parts.netloc}:{port}{parts.path}"


def _user(url: str) -> str:
    """Return the part before the last @, which may be a password with unquoted characters."""
    return url.partition("://")[2].rpartition("@")[0]
