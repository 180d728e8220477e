"""`simdoc-search engine`: OpenSearch on this machine, from Python packages alone."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import click

from simdoc_search.cli.common import Interrupted, errors_as_sentences, json_option, print_json, say
from simdoc_search.display import counted, printable
from simdoc_search.errors import LocationError
from simdoc_search.stores.location import check_folder

if TYPE_CHECKING:
    from simdoc_search.devengine import Cluster, Status

Parameters = ParamSpec("Parameters")

port_option: Final = click.option(
    "--port",
    type=click.IntRange(9200, 9280),
    default=9201,
    show_default=True,
    help="The first node's port; further nodes have those after it.",
)


def _data(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        try:
            check_folder(value)
        except LocationError:
            raise click.BadParameter("that is an address; name a folder of this machine") from None
    return value


def _shows_logs(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Show the end of the log of a node that failed, above the sentence that says so."""

    @functools.wraps(command)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        from simdoc_search.devengine import EngineError

        try:
            command(*args, **kwargs)
        except EngineError as error:
            for line in error.log:
                say(f"  {line}", err=True)
            raise

    return wrapper


@click.group()
def engine() -> None:
    """Run OpenSearch on this machine, for development and tests.

    It comes from Python packages: no Docker, no Java of your own. It listens on this machine only, without a password.

    \b
      simdoc-search engine start
      simdoc-search engine status
      simdoc-search engine stop
    """


@engine.command()
@click.option("--nodes", type=click.IntRange(1, 9),
              help="How many nodes, one process each.  [default: as the data have it, or 1]")  # fmt: skip
@port_option
@click.option("--heap", metavar="SIZE", help="Memory of each node's Java, like 512m.  [default: 1g]")
@click.option("--version", metavar="VERSION", help="Of OpenSearch, like 2.19.1.  [default: the one that is tried most]")
@click.option("--data", type=click.Path(), callback=_data, metavar="DIR",
              help="Where its data are.  [default: in your home]")  # fmt: skip
@click.option("--ephemeral", is_flag=True, help="Keep the data until it is stopped, no longer.")
@json_option
@errors_as_sentences
@_shows_logs
def start(
    nodes: int | None,
    port: int,
    heap: str | None,
    version: str | None,
    data: str | None,
    ephemeral: bool,
    as_json: bool,
) -> None:
    """Start the engine, and wait until it answers.

    It goes on when this command is done. The first time, OpenSearch is fetched from Maven Central: some 75 MB for each
    version.

    \b
      simdoc-search engine start
      simdoc-search engine start --nodes 3 --port 9211 --heap 512m --ephemeral
      simdoc-search engine start --port 9221 --version 2.19.1 --ephemeral
    """
    from simdoc_search import devengine as library

    line = _StatusLine()
    try:
        cluster = library.start(
            nodes=nodes, port=port, heap=heap, version=version, data=data, ephemeral=ephemeral, progress=line
        )
    except KeyboardInterrupt:
        raise Interrupted("interrupted; nothing is left running") from None
    if as_json:
        print_json({"was_running": cluster.was_running, **_as_json(cluster, cluster.status())})
        return
    runs = "runs already" if cluster.was_running else "runs"
    say(f"OpenSearch {cluster.status().version} {runs} at {' '.join(cluster.urls)}")


@engine.command()
@port_option
@json_option
@errors_as_sentences
def status(port: int, as_json: bool) -> None:
    """Show the engine's nodes and health.

    The exit code is 0 if every node answers and no data are missing, and 1 if not.

    \b
      simdoc-search engine status
    """
    from simdoc_search.devengine import find

    cluster = find(port)
    if cluster is None:
        if not as_json:
            raise click.ClickException(f"{_nothing(port)}; start one: simdoc-search engine start")
        print_json({"health": None, "urls": [], "nodes": []})
        sys.exit(1)
    found = cluster.status()
    if as_json:
        print_json(_as_json(cluster, found))
    else:
        say(f"engine  OpenSearch {found.version}, {found.health or 'does not answer'}, heap {found.heap}")
        say(f"data    {found.data}{' (until it is stopped)' if found.ephemeral else ''}")
        for node in found.nodes:
            say(f"node {node.number}  {node.url}  {node.state}{f', process {node.pid}' if node.pid else ''}")
    if not found.is_well:
        sys.exit(1)


@engine.command()
@port_option
@json_option
@errors_as_sentences
def stop(port: int, as_json: bool) -> None:
    """Stop the engine, and wait until it is gone.

    Its data stay, unless it was started with --ephemeral.

    \b
      simdoc-search engine stop
    """
    from simdoc_search.devengine import find

    cluster = find(port)
    stopped = 0 if cluster is None else cluster.stop()
    if as_json:
        print_json({"stopped": stopped})
    else:
        say(f"stopped {counted(stopped, 'node')}" if stopped else _nothing(port))


@engine.command()
@click.option("--node", type=click.IntRange(min=1), default=1, show_default=True, help="Which node's log.")
@click.option("--lines", type=click.IntRange(min=1), default=50, show_default=True, help="How many of its last lines.")
@port_option
@json_option
@errors_as_sentences
def logs(node: int, lines: int, port: int, as_json: bool) -> None:
    """Show the end of a node's log.

    \b
      simdoc-search engine logs --node 2 --lines 200
    """
    from simdoc_search.devengine import find

    cluster = find(port)
    if cluster is None:
        raise click.ClickException(f"{_nothing(port)}; the logs of one that was stopped are beside its data")
    found = cluster.log_end(node, lines)
    if as_json:
        print_json({"node": node, "lines": found})
        return
    for line in found:
        say(line)


class _StatusLine:
    """One line on stderr: it changes where that is a terminal, and is written once for each step elsewhere."""

    def __init__(self) -> None:
        self._doing = ""

    def __call__(self, doing: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            doing, end = printable(doing), "\n" if done == total else ""
            click.echo(f"\r{doing}: {done} of {total}{end}" if total else f"{doing} ...", nl=False, err=True)
        elif doing != self._doing:
            say(f"{doing} ...", err=True)
        self._doing = doing


def _nothing(port: int) -> str:
    from simdoc_search.devengine import find_all

    others = ", ".join(str(each.port) for each in find_all())
    return f"no engine runs on port {port}" + (f" (but on {others}: --port)" if others else "")


def _as_json(cluster: Cluster, status: Status) -> dict[str, Any]:
    return {"urls": cluster.urls, **asdict(status)}
