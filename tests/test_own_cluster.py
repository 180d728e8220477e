"""scripts/try_elasticsearch changes only objects that it created in a cluster, and removes them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import to
from tests.support.cleanup import remove_all
from tests.support.elasticsearch_engine import elasticsearch_lacks
from tests.support.engines import call, own_name
from tests.support.gateway import REFUSED_PATH, Gateway, gateway
from tests.support.http_server import Request, answer, serving
from tests.support.tls_proxy import API_KEY, PASSWORD, USER, authority, proxied
from tests.support.waiting import wait_until

SCRIPT = Path(__file__).parents[1] / "scripts" / "own_cluster.py"
PREFIX = "try-1"


def request(method: str, path: str, *lines: Any) -> Request:
    """Make a request of the gateway."""
    return Request(method, path, {}, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def passed(sent: Request) -> list[Request]:
    """The requests that reach the engine."""
    with serving(lambda _: answer({})) as server:
        Gateway(server.url, PREFIX)(sent)
        return server.requests


@pytest.mark.parametrize(
    "sent",
    [
        request("PUT", "/articles"),
        request("DELETE", "/try-1-a,articles"),
        request("DELETE", "/*"),
        request("PUT", "/try-1-a", {"aliases": {"articles": {}}}),
        request("POST", "/articles/_update_by_query"),
        request("POST", "/_bulk", {"index": {"_index": "try-1-a"}}, {"a": 1}, {"delete": {"_index": "articles"}}),
        request("POST", "/_reindex", {"source": {"index": "try-1-a"}, "dest": {"index": "articles"}}),
        request("POST", "/_aliases", {"actions": [{"add": {"index": "try-1-a", "alias": "articles"}}]}),
        request("PUT", "/_index_template/try-1-a", {"index_patterns": ["articles*"]}),
        request("PUT", "/_cluster/settings", {"persistent": {}}),
        request("DELETE", "/_search/point_in_time/_all"),
        request("POST", "/_tasks/n:1/_cancel"),
        request("POST", "/articles/_doc/_search", {"a": 1}),
    ],
    ids=lambda sent: f"{sent.method} {sent.path}",
)
def test_a_request_that_would_change_other_objects_is_refused(sent: Request) -> None:
    assert [] == passed(sent)


@pytest.mark.parametrize(
    ("sent", "path", "body"),
    [
        (request("PUT", "/_ingest/pipeline/simdoc", {}), "/_ingest/pipeline/try-1.simdoc", {}),
        (request("POST", "/_ingest/pipeline/simdoc/_simulate", {}), "/_ingest/pipeline/try-1.simdoc/_simulate", {}),
        (request("DELETE", "/_scripts/simdoc-similar"), "/_scripts/try-1.simdoc-similar", None),
        (request("GET", "/_ingest/pipeline/try-1-a,b*"), "/_ingest/pipeline/try-1-a,try-1.b*", None),
        (
            request("PUT", "/try-1-a", {"settings": {"index": {"final_pipeline": "simdoc"}}}),
            "/try-1-a",
            {"settings": {"index": {"final_pipeline": "try-1.simdoc"}}},
        ),
        (
            request("PUT", "/_index_template/a", {"index_patterns": ["try-1-*"], "composed_of": ["simdoc"]}),
            "/_index_template/try-1.a",
            {"index_patterns": ["try-1-*"], "composed_of": ["try-1.simdoc"]},
        ),
        (
            request("PUT", "/_ingest/pipeline/a", {"processors": [{"pipeline": {"name": "simdoc"}}]}),
            "/_ingest/pipeline/try-1.a",
            {"processors": [{"pipeline": {"name": "try-1.simdoc"}}]},
        ),
        (
            request("POST", "/articles/_search/template", {"id": "simdoc-similar", "params": {"id": "1"}}),
            "/articles/_search/template",
            {"id": "try-1.simdoc-similar", "params": {"id": "1"}},
        ),
        (request("POST", "/try-1-a/_update_by_query?pipeline=b"), "/try-1-a/_update_by_query?pipeline=try-1.b", None),
    ],
)
def test_names_in_the_whole_engine_get_a_prefix(sent: Request, path: str, body: Any) -> None:
    [reached] = passed(sent)

    assert path == reached.path
    assert body == (json.loads(reached.body) if reached.body else None)


def test_answers_have_the_names_without_the_prefix() -> None:
    with serving(lambda _: answer({"try-1.simdoc": {}, "try-1-a": "[try-1.simdoc]"})) as server:
        between = Gateway(server.url, PREFIX)

        assert {"simdoc": {}, "try-1-a": "[simdoc]"} == json.loads(between(request("GET", "/_ingest/pipeline")).body)
        between(request("DELETE", "/articles"))
        assert ["DELETE /articles"] == json.loads(between(request("GET", REFUSED_PATH)).body)
        assert [] == json.loads(between(request("GET", REFUSED_PATH)).body)


@pytest.mark.parametrize(
    "let_in", [{"SIMDOC_USERNAME": USER, "SIMDOC_PASSWORD": PASSWORD}, {"SIMDOC_API_KEY": API_KEY}], ids=["user", "key"]
)
def test_the_gateway_uses_the_credentials_of_the_environment(
    let_in: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca, file = authority(tmp_path)
    with serving(lambda _: answer({"version": {}})) as engine, proxied(engine.url, ca) as closed:
        for name, value in {**let_in, "SIMDOC_CA_FILE": str(file)}.items():
            monkeypatch.setenv(name, value)
        with gateway(closed.url, PREFIX) as (_, address):
            assert {"version": {}} == call(address, "GET", "/")


def put_all(url: str, name: str, index: str) -> None:
    """Create an index, an alias and one object of each other kind."""
    call(url, "PUT", f"/{index}-1", {"aliases": {f"{index}-2": {}}})
    call(url, "PUT", f"/_ingest/pipeline/{name}", {"processors": []})
    call(url, "PUT", f"/_component_template/{name}", {"template": {}})
    call(
        url,
        "PUT",
        f"/_index_template/{name}",
        {"index_patterns": [f"{index}-9*"], "composed_of": [name], "priority": 9},
    )
    call(url, "PUT", f"/_scripts/{name}", {"script": {"lang": "painless", "source": "1"}})
    call(url, "PUT", f"/{index}-1/_settings", {"index.final_pipeline": name})


def left_of(engine: Engine, name: str, index: str) -> list[str]:
    """The objects created by `put_all` that are still in the engine."""
    kinds = ["_ingest/pipeline", "_component_template", "_index_template", "_scripts"]
    places = [[f"{index}-1"], [f"{index}-2"], *([*kind.split("/"), name] for kind in kinds)]
    return ["/".join(place) for place in places if engine.call("GET", place, allowed_statuses=(404,))]


def test_only_the_objects_of_the_tests_are_removed(opensearch_url: str) -> None:
    mine, prefix = own_name("mine"), own_name("try")
    put_all(opensearch_url, mine, mine)
    with gateway(opensearch_url, prefix) as (between, address), to(opensearch_url) as engine:
        put_all(address, mine, prefix)

        assert 6 == len(left_of(engine, f"{prefix}.{mine}", prefix))
        assert [] == remove_all(engine, between)
        assert [] == left_of(engine, f"{prefix}.{mine}", prefix)
        assert 503 == between(request("PUT", f"/{prefix}-late")).status
        there = left_of(engine, mine, mine)
        assert 6 == len(there)
        for place in (there[0], *sorted(there[2:], reverse=True)):
            engine.call("DELETE", place.split("/"))


# --- the script ---


def test_an_engine_without_scripts_is_refused(elasticsearch_url: str) -> None:
    if "scripts" not in elasticsearch_lacks():
        pytest.skip("it has scripts")
    done = subprocess.run([sys.executable, SCRIPT, elasticsearch_url], capture_output=True, text=True, check=False)

    assert (1, "") == (done.returncode, done.stdout)
    assert re.fullmatch(
        r"\S+ cannot run scripts, because the module lang-painless is not installed; take one .*\n", done.stderr
    )


@pytest.mark.slow
def test_ctrl_c_removes_everything(opensearch_url: str) -> None:
    with subprocess.Popen(
        [sys.executable, SCRIPT, opensearch_url, "backfill"], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        [prefix] = re.findall(r"called (simdoc-try-\w+)\.\.\.", run.stdout.readline())
        place = f"/_resolve/index/{prefix}*"
        wait_until(lambda: bool(call(opensearch_url, "GET", place)["indices"]))
        run.send_signal(signal.SIGINT)
        rest = run.stdout.read()

    assert 130 == run.returncode
    assert f"Nothing called {prefix}... is left." in rest
    assert [] == call(opensearch_url, "GET", place)["indices"]


@pytest.mark.parametrize(("failed", "is_worse"), [(3, False), (4, True)])
def test_more_failures_than_in_the_table_are_an_error(
    failed: int, is_worse: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import compatibility

    table = tmp_path / "compatibility.md"
    table.write_text("| Engine 1.0 | from packages |\n\n| Engine 1.0 | 5 passed | 9 passed, 3 failed | not tried |\n")
    monkeypatch.setattr(compatibility, "TABLE", table)

    assert is_worse == compatibility.has_new_failures("Engine 1.0", {"template": Counter(passed=9, failed=failed)})
    assert compatibility.has_new_failures("Engine 1.0", {"store": Counter(failed=1)})
    assert compatibility.has_new_failures("Engine 2.0", {"store": Counter(failed=1)})
    assert not compatibility.has_new_failures("Engine 2.0", {"store": Counter(passed=1)})
