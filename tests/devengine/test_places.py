"""Ports, configuration and folders of the development engine."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from simdoc_search.devengine import DevEngineError, find_free_port, packages
from simdoc_search.devengine.common import cache_folder, data_folder
from simdoc_search.devengine.node import HTTP_PORTS, TRANSPORT_PORT_OFFSET, Node, check_ports, is_port_in_use

ROOT = Path(__file__).parents[2]


# --- ports ---


@pytest.mark.parametrize(("port", "nodes"), [(9200, 1), (9201, 3), (9280, 1), (9200, 81)])
def test_ports_in_the_range_are_accepted(port: int, nodes: int) -> None:
    check_ports(port, nodes)


@pytest.mark.parametrize(("port", "nodes"), [(9199, 1), (9281, 1), (9279, 3), (80, 1), (9300, 1), (9201, 0)])
def test_ports_outside_the_range_are_refused(port: int, nodes: int) -> None:
    with pytest.raises(DevEngineError, match=r"from 9200 to 9280|at least 1"):
        check_ports(port, nodes)


def test_transport_ports_differ_from_http_ports() -> None:
    assert set() == set(HTTP_PORTS) & {port + TRANSPORT_PORT_OFFSET for port in HTTP_PORTS}


def test_a_port_on_which_a_program_listens_is_in_use(used_port: int) -> None:
    assert is_port_in_use(used_port)
    assert used_port != find_free_port()


def test_free_ports_are_consecutive_and_random() -> None:
    first = find_free_port(3)

    assert first > 9201
    assert [] == [port for port in range(first, first + 3) if is_port_in_use(port)]
    assert len({find_free_port() for _ in range(10)}) > 1
    with pytest.raises(DevEngineError, match="cannot find 100 consecutive free ports from 9210 to 9280"):
        find_free_port(100)


# --- configuration ---


def test_nodes_listen_on_this_machine_only_and_know_each_other(tmp_path: Path) -> None:
    nodes = [Node(number, tmp_path / f"node-{number}", 9210 + number) for number in (1, 2, 3)]
    for node in nodes:
        node.write_configuration(nodes)
    texts = [(node.folder / "config" / "opensearch.yml").read_text("utf-8") for node in nodes]
    settings = [{key: json.loads(value) for key, value in re.findall("(.+?): (.+)", text)} for text in texts]

    assert [("127.0.0.1", port) for port in (9311, 9312, 9313)] == [
        (values["network.host"], values["transport.port"]) for values in settings
    ]
    for values in settings:
        assert ["127.0.0.1:9311", "127.0.0.1:9312", "127.0.0.1:9313"] == values["discovery.seed_hosts"]
        assert ["127.0.0.1:9311"] == values["cluster.initial_cluster_manager_nodes"]
        assert not values["cluster.routing.allocation.disk.threshold_enabled"]


def test_the_default_version_passes_all_suites() -> None:
    table = (ROOT / "docs" / "compatibility.md").read_text("utf-8").splitlines()
    [cells] = (
        line.split("|")[2:-2] for line in table if line.startswith(f"| OpenSearch {packages.OPENSEARCH_VERSION} |")
    )

    assert 5 == len(cells)
    assert [] == [cell for cell in cells if not re.fullmatch(r" \d+ passed ", cell)]


# --- folders ---


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_folders_on_linux_follow_xdg(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (home / "XDG_CACHE_HOME" / "simdoc-search") == cache_folder()
    assert (home / "XDG_DATA_HOME" / "simdoc-search" / "engine") == data_folder()
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))

    assert home / ".cache" / "simdoc-search" == cache_folder()
    assert home / ".local/share/simdoc-search/engine" == data_folder()
