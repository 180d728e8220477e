"""`simdoc-search mcp`: answers agents over the Model Context Protocol."""

from __future__ import annotations

import os

import click

from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.serve import open_served_store, require_extra


@click.command(cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", shell_complete=complete_paths)
@index_options()
def mcp(
    folders: tuple[str, ...],
    index: ChosenIndex,
) -> None:
    """Let an agent search the index (Model Context Protocol).

    FOLDER is a folder whose files the agent may also read.

    An MCP client starts this command, and talks to it over stdin and stdout. The agent can use the tools similar,
    passages, compare, versions, duplicates and show. These tools change nothing.

    \b
      simdoc-search mcp --store /home/me/articles/.simdoc
      simdoc-search mcp --store http://localhost:9200/articles ~/drafts

    In the configuration of the client, give the absolute path of the index.
    """
    with require_extra("the server for agents", "mcp"):
        from simdoc_search.mcp_server import run_mcp_server
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir may raise for a long name
            raise click.UsageError(f"{folder!r} is not a folder; give a folder whose files the agent may read")
    served_store = open_served_store(index)
    try:
        run_mcp_server(served_store, folders)
    finally:
        served_store.close()
