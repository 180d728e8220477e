"""Connects to the engine at a URL. Detects the kind of engine, and reads credentials and certificates.

Credentials and certificates come from environment variables, so that process lists do not show them:

    SIMDOC_USERNAME, SIMDOC_PASSWORD      basic authentication
    SIMDOC_API_KEY                        an API key in base64, as the engine returned it
    SIMDOC_CA_FILE                        a file with trusted certificates, used instead of the system's certificates
    SIMDOC_CLIENT_CERT, SIMDOC_CLIENT_KEY files with the client certificate and, if separate, its key
"""

from __future__ import annotations

import base64
import json
import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError, MissingExtraError, StoreError
from simdoc_search.stores.location import ENGINES, EngineKind, check_url
from simdoc_search.stores.remote.clients import (
    create_elasticsearch_client,
    create_opensearch_client,
    read_timeout_seconds,
)
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import unavailable_error

_ENDPOINT_PATTERN = re.compile(r"(/_(?!all/?$)[a-z_]+|/_(doc|create|update|source|explain|search)/[^/]+)/?$")
"""The end of a path that names an endpoint, such as `/_search` or `/_doc/1`. An index cannot have such a name."""


def connect(url: str, *, engine: EngineKind | None = None, expects_index: bool = True) -> tuple[Engine, str]:
    """Connect to `http(s)://host:port[,host:port]/index`.

    If `engine` is None, the kind of engine is detected from the first host that responds. `expects_index` says whether
    the URL ends with the name of an index.

    Returns:
        The engine and the name of the index. The name is empty if `expects_index` is False.

    Raises:
        ValueError: the kind of engine is unknown.
        LocationError: the URL is malformed, contains a password, or does not end with the index.
        StoreError: a certificate cannot be read, or SIMDOC_TIMEOUT is not a valid number.
        StoreUnavailableError: no host responds.
        MissingExtraError: the client library for this engine is not installed.
    """
    if engine not in (None, *ENGINES):
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    check_url(url)
    hosts, name = split_url(url if expects_index else f"{url.rstrip('/')}/index")
    headers, tls = build_request_headers(url), create_tls_context() if url.lower().startswith("https") else None
    kind = engine or _detect_engine(hosts, headers, tls, url if expects_index else "")
    create_client = create_opensearch_client if kind == "opensearch" else create_elasticsearch_client
    client = create_client([_add_port(host) for host in hosts], headers, tls, read_timeout_seconds())
    return Engine(client, hosts[0], owns_client=True, has_responded=engine is None), name if expects_index else ""


def split_url(url: str) -> tuple[list[str], str]:
    """Return the URLs of the nodes, and the name of the index.

    Raises:
        LocationError: the URL has no valid host or no index, or it contains a password.
    """
    shown = without_credentials(url)
    if ":" in _extract_userinfo(url):
        raise LocationError(
            f"the URL {shown} contains a password, which other users could see in the process list; remove the "
            "password from the URL, and set SIMDOC_USERNAME and SIMDOC_PASSWORD"
        )
    try:
        parts = urlsplit(url)
        prefix, _, index = parts.path.strip("/").rpartition("/")
        host_ports = parts.netloc.rpartition("@")[2]
        hosts = [f"{parts.scheme}://{host_port}{'/' + prefix if prefix else ''}" for host_port in host_ports.split(",")]
        is_valid = all(
            urlsplit(host).hostname and urlsplit(host).port != 0 and _is_accepted_by_clients(host) for host in hosts
        )
    except ValueError:  # the original error is hidden, because its message may contain the password
        is_valid = False
    if not is_valid:
        raise LocationError(f"{shown} is not the URL of an engine; use http://host:port/index")
    endpoint = _ENDPOINT_PATTERN.search(parts.path)
    index_path = (parts.path[: endpoint.start()] if endpoint else parts.path).rstrip("/")
    index_url = f"{parts.scheme}://{host_ports}{index_path or '/INDEX'}"
    if endpoint or not index:
        raise _no_index_error(shown, index_url)
    if parts.query or parts.fragment:
        raise LocationError(f"the URL of an index cannot contain ? or #; use {index_url}")
    return hosts, unquote(index)


def build_request_headers(url: str) -> dict[str, str]:
    """Return the authorization header for a URL, or an empty dict if there are no credentials.

    Raises:
        StoreError: SIMDOC_API_KEY contains a character that a header cannot contain.
    """
    if key := os.environ.get("SIMDOC_API_KEY"):
        if not (key.isascii() and key.isprintable()):
            raise StoreError(
                "SIMDOC_API_KEY contains a line break or another character that is not allowed in an API key; set it "
                "to the key alone, without line breaks"
            )
        return {"authorization": f"ApiKey {key}"}
    if user := unquote(_extract_userinfo(url)) or os.environ.get("SIMDOC_USERNAME"):
        credentials = f"{user}:{os.environ.get('SIMDOC_PASSWORD', '')}"
        return {"authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}
    return {}


def create_tls_context() -> ssl.SSLContext:
    """Return the TLS settings from the environment. Raises StoreError if a certificate file cannot be read."""
    files = {name: os.environ.get(name) for name in ("SIMDOC_CA_FILE", "SIMDOC_CLIENT_CERT", "SIMDOC_CLIENT_KEY")}
    authorities, certificate, key = files.values()
    for name, file in files.items():
        if file and not Path(file).is_file():
            raise StoreError(f"{name} is {file!r}, which is not a file; set it to the path of a PEM file")
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise StoreError(
            f"cannot read certificates from SIMDOC_CA_FILE ({error}); set it to the path of a PEM file"
        ) from None
    if certificate:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise StoreError(
                f"cannot read SIMDOC_CLIENT_CERT or SIMDOC_CLIENT_KEY ({error}); set them to the paths of PEM "
                "files with the client certificate and its key"
            ) from None
    return context


def _no_index_error(shown_url: str, index_url: str) -> LocationError:
    return LocationError(f"{shown_url} does not end with the name of an index; use {index_url}")


def _detect_engine(
    hosts: list[str], headers: Mapping[str, str], tls: ssl.SSLContext | None, index_url: str
) -> EngineKind:
    """Return the kind of engine at the first host that responds, even with an error status such as 403.

    Raises:
        LocationError: `index_url` has a name behind that of the index.
    """
    try:
        import urllib3  # noqa: PLC0415 - installed with either client library
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"the engine at {hosts[0]}", "opensearch,elasticsearch") from missing
    error: Exception | None = None
    options = {"ssl_context": tls} if tls else {}
    for host in hosts:
        with urllib3.connection_from_url(host, timeout=read_timeout_seconds(), **options) as pool:
            try:
                path = f"{urlsplit(host).path}/"
                response = pool.request("GET", path, headers=headers, retries=False, redirect=False)
            except urllib3.exceptions.HTTPError as http_error:
                error = http_error
                continue
            if index_url and path != "/" and response.status == 200 and _describes_index(response.data):
                raise _no_index_error(without_credentials(index_url), host)
            return _parse_engine_kind(response.headers, response.data)
    raise unavailable_error(hosts[0], error) from error


def _describes_index(body: bytes) -> bool:
    """Return whether an engine responded with the description of indices, not of itself."""
    try:
        return all("mappings" in index for index in json.loads(body).values() or [{}])
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


def _parse_engine_kind(headers: Mapping[str, str], body: bytes) -> EngineKind:
    """Return the kind of engine, from a header that Elasticsearch sends since 7.14, or from the version in the body."""
    if headers.get("X-Elastic-Product") == "Elasticsearch":
        return "elasticsearch"
    try:
        version = json.loads(body)["version"]
        is_elastic = "distribution" not in version and "lucene_version" in version
        # The Elasticsearch client 8 rejects servers before 7.14. The OpenSearch client works with them.
        return "elasticsearch" if is_elastic and int(version["number"].split(".")[0]) >= 8 else "opensearch"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "opensearch"


def _is_accepted_by_clients(host: str) -> bool:
    """Return whether a host contains only characters that both clients accept."""
    return host.isprintable() and " " not in host


def _add_port(host: str) -> str:
    """Return the URL of a host with an explicit port, because the clients do not use the default ports 80 and 443."""
    parts = urlsplit(host)
    port = {"http": 80, "https": 443}[parts.scheme]
    return host if parts.port else f"{parts.scheme}://{parts.netloc}:{port}{parts.path}"


def _extract_userinfo(url: str) -> str:
    """Return the part of a URL before the last @. It may contain a password with unquoted characters."""
    return url.partition("://")[2].rpartition("@")[0]
