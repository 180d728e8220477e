"""Passwords, keys and certificates, through a proxy with TLS in front of a real engine."""

from __future__ import annotations

import logging
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
from simdoc_search.errors import SimdocError, StoreError, StoreUnavailableError
from simdoc_search.stores.remote.connection import connect
from tests.support.cli import answer, run
from tests.support.engines import call, own_name
from tests.support.http_server import error, serving
from tests.support.texts import documents
from tests.support.tls_proxy import API_KEY, PASSWORD, USER, Proxy, authority, proxied

SECRETS = (PASSWORD, API_KEY)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but what a test sets."""
    for name in ("USERNAME", "PASSWORD", "API_KEY", "CA_FILE", "CLIENT_CERT", "CLIENT_KEY"):
        monkeypatch.delenv(f"SIMDOC_{name}", raising=False)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> tuple[trustme.CA, Path]:
    """An authority, and the file that makes clients trust it."""
    return authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def trusted(ca: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The authority is trusted, and the right password given."""
    monkeypatch.setenv("SIMDOC_CA_FILE", str(ca[1]))
    monkeypatch.setenv("SIMDOC_USERNAME", USER)
    monkeypatch.setenv("SIMDOC_PASSWORD", PASSWORD)


@pytest.fixture
def proxy(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> Iterator[Proxy]:
    """A proxy that forbids nothing."""
    with proxied(opensearch_url, ca[0]) as running:
        yield running


@pytest.fixture
def index(opensearch_url: str) -> Iterator[str]:
    """The name of an index, which is removed."""
    name = own_name()
    yield name
    call(opensearch_url, "DELETE", f"/{name}?ignore_unavailable=true")


def refused(url: str) -> str:
    """The sentence that opening a store raises; nothing secret is in it, nor in the traceback."""
    with pytest.raises(StoreError) as error:
        open_store(url)
    shown = "".join(traceback.format_exception(error.value))
    assert [] == [secret for secret in SECRETS if secret in shown]
    assert "\n" not in str(error.value)
    return str(error.value)


# --- who we are ---


@pytest.mark.usefixtures("trusted")
def test_everything_works_with_a_password(proxy: Proxy, index: str) -> None:
    made = documents("secure", 60, 50)
    made.append(Document("copy", made[0].text))
    store = open_store(f"{proxy.url}/{index}", create=True)
    report = SimilaritySearch(store).index(made)
    result = answer("similar", '"doc0"_80_80', "--store", f"{proxy.url}/{index}")

    assert (61, []) == (report.indexed, report.skipped)
    assert ["copy"] == [hit["id"] for hit in result["hits"]]


def test_everything_works_with_an_api_key(
    proxy: Proxy, index: str, ca: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_CA_FILE", str(ca[1]))
    monkeypatch.setenv("SIMDOC_API_KEY", API_KEY)
    monkeypatch.setenv("SIMDOC_USERNAME", "another")
    store = open_store(f"{proxy.url}/{index}", create=True)

    assert 3 == SimilaritySearch(store).index(documents("key", 3)).indexed


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("variable", ["SIMDOC_PASSWORD", "SIMDOC_USERNAME"])
def test_a_wrong_password_is_one_sentence(variable: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "wrong")

    assert (
        f"{proxy.url} does not accept the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
        == refused(f"{proxy.url}/docs")
    )


def test_a_password_in_an_address_is_refused_unseen() -> None:
    message = refused(f"https://{USER}:{PASSWORD}@localhost:1/docs")

    assert "https://localhost:1/docs has a password" in message
    assert PASSWORD not in run("info", "--store", f"https://{USER}:{PASSWORD}@localhost:1/docs").output


@pytest.mark.usefixtures("trusted")
def test_nothing_secret_is_shown_or_logged(proxy: Proxy, index: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = open_store(f"{proxy.url}/{index}", create=True)
    search = SimilaritySearch(store)
    search.index(documents("shown", 3))
    shown = [repr(store), str(vars(store)), caplog.text, str(search.info())]
    shown += [run("info", "--json", "--store", f"{proxy.url}/{index}").output]

    assert "_search" in caplog.text or "_bulk" in caplog.text
    assert [] == [secret for secret in SECRETS for text in shown if secret in text]


# --- whom we trust ---


def test_an_unknown_authority_is_not_trusted(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_USERNAME", USER)

    assert (
        f"{proxy.url} does not answer (its certificate is not trusted); name its authority with SIMDOC_CA_FILE"
        == refused(f"{proxy.url}/docs")
    )
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_an_expired_certificate_is_said_to_be_one(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> None:
    yesterday = datetime.now(timezone.utc) - timedelta(days=1)
    with proxied(opensearch_url, ca[0], expires=yesterday) as proxy:
        message = refused(f"{proxy.url}/docs")

    assert "its certificate has expired" in message
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_the_certificate_of_another_host_is_refused(opensearch_url: str, ca: tuple[trustme.CA, Path]) -> None:
    with proxied(opensearch_url, ca[0], host="search.example.org") as proxy:
        message = refused(f"{proxy.url}/docs")

    assert "its certificate is another host's" in message
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_a_certificate_of_ours_is_shown_if_we_have_one(
    opensearch_url: str, ca: tuple[trustme.CA, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = ca[0].issue_cert("client.example.org")
    (both := tmp_path / "both.pem").write_bytes(ours.private_key_and_cert_chain_pem.bytes())
    (cert := tmp_path / "cert.pem").write_bytes(ours.cert_chain_pems[0].bytes())
    (key := tmp_path / "key.pem").write_bytes(ours.private_key_pem.bytes())
    with proxied(opensearch_url, ca[0], clients_of=ca[0]) as proxy:
        assert "does not answer" in refused(f"{proxy.url}/docs")
        monkeypatch.setenv("SIMDOC_CLIENT_CERT", str(both))
        assert "there is no index" in refused(f"{proxy.url}/nothing")
        monkeypatch.setenv("SIMDOC_CLIENT_CERT", str(cert))
        monkeypatch.setenv("SIMDOC_CLIENT_KEY", str(key))
        assert "there is no index" in refused(f"{proxy.url}/nothing")


@pytest.mark.parametrize("name", ["SIMDOC_CA_FILE", "SIMDOC_CLIENT_CERT"])
def test_a_file_that_is_none_or_no_certificate_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "missing"))
    missing = refused("https://localhost:1/docs")
    (tmp_path / "text").write_text("no certificate")
    monkeypatch.setenv(name, str(tmp_path / "text"))

    assert f"{name} names {tmp_path / 'missing'}, which is not a file; correct it" == missing
    assert f"{name} cannot be used" in refused("https://localhost:1/docs")


def test_tls_where_there_is_none(opensearch_url: str) -> None:
    message = refused(f"{opensearch_url.replace('http', 'https')}/docs")

    assert "it does not speak TLS); write http instead of https" in message


# --- what we may do ---


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("forbidden", ["GET /$", "_cluster/settings", "_stats"])
def test_what_we_need_not_may_be_forbidden(forbidden: str, proxy: Proxy, index: str) -> None:
    proxy.forbidden = [forbidden]
    made = documents("forbidden", 5, 700)
    store = open_store(f"{proxy.url}/{index}", create=True)
    search = SimilaritySearch(store)
    search.index([*made, Document("copy", made[0].text)])
    filters: Any = [{"match_all": {}}] * 40

    assert ["copy"] == [hit.id for hit in search.similar('"doc0"_20_80', planner="all", filters=filters).hits]
    assert 6 == search.info().documents
    assert (forbidden == "_stats") == (search.info().bytes is None)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("forbidden", ["_mapping", "_search", "_bulk", "PUT /"])
def test_a_forbidden_index_is_one_sentence(forbidden: str, proxy: Proxy, index: str) -> None:
    proxy.forbidden = [forbidden]

    def indexed() -> None:
        SimilaritySearch(open_store(f"{proxy.url}/{index}", create=True)).index(documents("forbidden", 3))

    with pytest.raises(SimdocError, match=r"forbids it \(no permissions for [^\n]*\); ask for the permission$"):
        indexed()


@pytest.mark.usefixtures("trusted")
def test_no_redirection_is_followed(opensearch_url: str, ca: tuple[trustme.CA, Path], proxy: Proxy) -> None:
    with proxied(opensearch_url, ca[0], redirect_to=proxy.url) as first:
        message = refused(f"{first.url}/docs")

    assert f"{first.url} redirects to another address, which is not followed; name that address" == message
    assert [] == proxy.requests


@pytest.mark.usefixtures("trusted")
def test_an_engine_that_is_away_is_one_sentence() -> None:
    with pytest.raises(StoreUnavailableError, match="connection refused"):
        connect("https://localhost:1/docs")


# --- the client of an application ---


def test_a_client_that_signs_its_requests_signs_ours() -> None:
    credentials = Credentials("AKIDEXAMPLE", PASSWORD)
    with serving(lambda _: error(404, "index_not_found_exception", "no such index")) as server:
        client = OpenSearch(server.url, http_auth=Urllib3AWSV4SignerAuth(credentials, "eu-central-1", "es"))
        with pytest.raises(StoreError):
            open_store(client=client, index="docs")

    signed = [each.headers["authorization"] for each in server.requests]
    assert [] != signed
    assert all(each.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") for each in signed)
    assert PASSWORD not in str(signed)
