"""The files for Docker and Kubernetes are valid, and their commands exist. Neither is run here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from simdoc_search.cli.group import cli
from simdoc_search.devengine.packages import OPENSEARCH_VERSION

yaml = pytest.importorskip("yaml", reason="the package PyYAML is not installed")

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
JOB, RULE = yaml.safe_load_all((ROOT / "packaging/kubernetes.yaml").read_text("utf-8"))
DOCKERFILE = (ROOT / "packaging/Dockerfile").read_text("utf-8")
PAGE = (ROOT / "docs/containers.md").read_text("utf-8")


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = JOB["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def commands() -> Iterator[list[str]]:
    """The commands of simdoc-search in all files."""
    text = PAGE + "\n".join(DOCKERFILE.splitlines()[:5]) + (ROOT / "docker-compose.yml").read_text("utf-8")
    yield from (
        line.split()
        for line in re.findall(r"(?:simdoc|simdoc-search|\\\n.* simdoc-search) ((?:index|duplicates|serve)\b.*)", text)
    )
    for container in pod()["initContainers"]:
        arguments = container.get("args") or re.findall(r"simdoc-search (.*) >", container["command"][-1])[0].split()
        yield arguments


@pytest.mark.parametrize("arguments", list(commands()), ids=" ".join)
def test_each_command_exists_with_its_options(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *rest = [str(tmp_path) if word.startswith("/documents") else word for word in arguments]
    with click.Context(cli, **cli.context_settings) as context:
        command = cli.get_command(context, name)

        assert command
        command.make_context(name, rest, parent=context)


def test_the_engine_is_secured_and_open_only_to_this_machine() -> None:
    engine = COMPOSE["services"]["opensearch"]

    assert f"opensearchproject/opensearch:{OPENSEARCH_VERSION}" == engine["image"]
    assert "DISABLE_SECURITY_PLUGIN" not in engine["environment"]
    assert [] == [port for port in engine["ports"] if not port.startswith("127.0.0.1:")]
    assert "network_mode" not in engine


def test_containers_have_no_rights() -> None:
    assert "USER 10001" in DOCKERFILE
    assert COMPOSE["services"]["simdoc"]["read_only"]
    assert pod()["securityContext"]["runAsNonRoot"]
    for container in [*pod()["initContainers"], *pod()["containers"]]:
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert not container["securityContext"]["allowPrivilegeEscalation"]


def test_the_image_has_everything_that_the_package_is_built_from() -> None:
    ignored = (ROOT / "packaging/Dockerfile.dockerignore").read_text("utf-8").split()

    assert {"!simdoc_search", "!index_templates", "!pyproject.toml", "!*.md", "!LICENSE*"} <= set(ignored)


def test_the_alert_uses_a_metric_of_status() -> None:
    metric = RULE["spec"]["groups"][0]["rules"][0]["expr"].split()[0]

    assert f'"{metric}' in (ROOT / "simdoc_search/cli/status_output.py").read_text("utf-8").replace('f"', '"')
