"""Passwords, API keys, certificates and permissions at a TLS proxy in front of an engine."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import trustme
from botocore.credentials import Credentials
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import SimdocError, StoreError
from tests.support.cli import answer, run
from tests.support.engines import call, own_name
from tests.support.http_server import Server, error, serving
from tests.support.texts import documents
from tests.support.tls_proxy import API_KEY, PASSWORD, USER, authority, forbid, proxied

SECRETS = (PASSWORD, API_KEY)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove settings from the environment."""
    for name in ("USERNAME", "PASSWORD", "API_KEY", "CA_FILE", "CLIENT_CERT", "CLIENT_KEY"):
        monkeypatch.delenv(f"SIMDOC_{name}", raising=False)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> tuple[trustme.CA, Path]:
    """A certificate authority, and the path of its certificate."""
    return authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def trusted(ca: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the authority, and set the right password."""
    monkeypatch.setenv("SIMDOC_CA_FILE", str(ca[1]))
    monkeypatch.setenv("SIMDOC_USERNAME", USER)
    monkeypatch.setenv("SIMDOC_PASSWORD", PASSWORD)


@pytest.fixture
def proxy(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> Iterator[Server]:
    """A proxy that forbids nothing."""
    with proxied(opensearch_url, ca[0]) as running:
        yield running


@pytest.fixture
def index(opensearch_url: str) -> Iterator[str]:
    """The name of an index, which is removed after the test."""
    name = own_name()
    yield name
    call(opensearch_url, "DELETE", f"/{name}?ignore_unavailable=true")


def refusal(url: str) -> str:
    """Return the error of opening a store, and check that its traceback contains no secret."""
    with pytest.raises(StoreError) as error:
        open_store(url)
    shown = "".join(traceback.format_exception(error.value))
    assert [] == [secret for secret in SECRETS if secret in shown]
    assert "\n" not in str(error.value)
    return str(error.value)


# --- credentials ---


@pytest.mark.usefixtures("trusted")
def test_a_password_gives_access_and_is_not_shown_or_logged(
    proxy: Server, index: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    written = documents("secure", 60, 50)
    store = open_store(f"{proxy.url}/{index}", create=True)
    search = SimilaritySearch(store)
    report = search.index([*written, Document("copy", written[0].text)])
    result = answer("similar", '"doc0"_80_80', "--store", f"{proxy.url}/{index}")
    shown = [repr(store), str(vars(store)), caplog.text, str(search.info())]
    shown += [run("info", "--json", "--store", f"{proxy.url}/{index}").output]

    assert (61, []) == (report.added_count, report.skipped)
    assert ["copy"] == [hit["id"] for hit in result["hits"]]
    assert "_bulk" in caplog.text
    assert [] == [secret for secret in SECRETS for text in shown if secret in text]


def test_an_api_key_gives_access_and_comes_before_a_user_name(
    proxy: Server, index: str, ca: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_CA_FILE", str(ca[1]))
    monkeypatch.setenv("SIMDOC_API_KEY", API_KEY)
    monkeypatch.setenv("SIMDOC_USERNAME", "another")
    store = open_store(f"{proxy.url}/{index}", create=True)

    assert 3 == SimilaritySearch(store).index(documents("key", 3)).added_count


@pytest.mark.usefixtures("trusted")
def test_a_wrong_password_is_refused(proxy: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_PASSWORD", "wrong")

    assert (
        f"{proxy.url} rejected the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
        == refusal(f"{proxy.url}/docs")
    )


# --- certificates ---


def test_a_certificate_of_an_unknown_authority_is_refused(proxy: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_USERNAME", USER)

    assert (
        f"no response from {proxy.url}: the certificate is not trusted; "
        "set SIMDOC_CA_FILE to the path of the CA certificate"
    ) == refusal(f"{proxy.url}/docs")
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_an_expired_certificate_is_refused(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> None:
    yesterday = datetime.now(timezone.utc) - timedelta(days=1)
    with proxied(opensearch_url, ca[0], expires=yesterday) as proxy:
        message = refusal(f"{proxy.url}/docs")

    assert "the certificate has expired" in message
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_the_certificate_of_another_host_is_refused(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> None:
    with proxied(opensearch_url, ca[0], host="search.example.org") as proxy:
        message = refusal(f"{proxy.url}/docs")

    assert "the certificate is for another host" in message
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_a_client_certificate_is_sent(
    opensearch_url: str, ca: tuple[trustme.CA, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = ca[0].issue_cert("client.example.org")
    (both := tmp_path / "both.pem").write_bytes(ours.private_key_and_cert_chain_pem.bytes())
    (cert := tmp_path / "cert.pem").write_bytes(ours.cert_chain_pems[0].bytes())
    (key := tmp_path / "key.pem").write_bytes(ours.private_key_pem.bytes())
    with proxied(opensearch_url, ca[0], clients_of=ca[0]) as proxy:
        assert "no response from" in refusal(f"{proxy.url}/docs")
        monkeypatch.setenv("SIMDOC_CLIENT_CERT", str(both))
        assert "there is no index" in refusal(f"{proxy.url}/nothing")
        monkeypatch.setenv("SIMDOC_CLIENT_CERT", str(cert))
        monkeypatch.setenv("SIMDOC_CLIENT_KEY", str(key))
        assert "there is no index" in refusal(f"{proxy.url}/nothing")


@pytest.mark.parametrize("name", ["SIMDOC_CA_FILE", "SIMDOC_CLIENT_CERT"])
def test_the_error_for_an_unusable_certificate_file_names_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "missing"))
    missing = refusal("https://localhost:1/docs")
    (tmp_path / "text").write_text("no certificate")
    monkeypatch.setenv(name, str(tmp_path / "text"))

    assert f"{name} is {str(tmp_path / 'missing')!r}, which is not a file; set it to the path of a PEM file" == missing
    assert re.match(f"cannot read .*{name}", refusal("https://localhost:1/docs"))


def test_https_to_an_http_engine_is_an_error(opensearch_url: str) -> None:
    message = refusal(f"{opensearch_url.replace('http', 'https')}/docs")

    assert "the server does not use TLS; use http instead of https" in message


# --- permissions ---


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("forbidden", ["GET /$", "_cluster/settings", "_stats"])
def test_the_store_works_without_some_permissions(forbidden: str, proxy: Server, index: str) -> None:
    proxy.handle = forbid(forbidden, proxy.handle)
    written = documents("forbidden", 5, 700)
    search = SimilaritySearch(open_store(f"{proxy.url}/{index}", create=True))
    search.index([*written, Document("copy", written[0].text)])
    filters: Any = [{"match_all": {}}] * 40

    assert ["copy"] == [hit.id for hit in search.similar('"doc0"_20_80', planner="all", filters=filters).hits]
    assert 6 == search.info().document_count
    assert (forbidden == "_stats") == (search.info().bytes is None)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("forbidden", ["_mapping", "_search", "_bulk", "PUT /"])
def test_a_missing_permission_is_an_error(forbidden: str, proxy: Server, index: str) -> None:
    proxy.handle = forbid(forbidden, proxy.handle)

    def indexed() -> None:
        SimilaritySearch(open_store(f"{proxy.url}/{index}", create=True)).index(documents("forbidden", 3))

    with pytest.raises(SimdocError, match=r"denied the request \(no permissions for [^\n]*\); ask"):
        indexed()


@pytest.mark.usefixtures("trusted")
def test_redirects_are_not_followed(opensearch_url: str, ca: tuple[trustme.CA, Path], proxy: Server) -> None:
    with proxied(opensearch_url, ca[0], redirect_to=proxy.url) as first:
        message = refusal(f"{first.url}/docs")

    assert (
        f"{first.url} redirects to another URL; use that URL, because simdoc-search does not follow redirects"
        == message
    )
    assert [] == proxy.requests


# --- the client of an application ---


def test_a_client_that_signs_requests_signs_those_of_the_store() -> None:
    credentials = Credentials("AKIDEXAMPLE", PASSWORD)
    with serving(lambda _: error(404, "index_not_found_exception", "no such index")) as server:
        client = OpenSearch(server.url, http_auth=Urllib3AWSV4SignerAuth(credentials, "eu-central-1", "es"))
        with pytest.raises(StoreError):
            open_store(client=client, index="docs")

    signed = [request.headers["authorization"] for request in server.requests]
    assert signed
    assert all(header.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") for header in signed)
    assert PASSWORD not in str(signed)
