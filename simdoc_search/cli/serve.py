"""`simdoc-search serve`: serves the store as pages for a browser, and as JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.columns import show_option
from simdoc_search.cli.common import say, workers_option
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.config import read_config_value
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_paths import index_paths
from simdoc_search.display import command_line, format_count, without_credentials
from simdoc_search.errors import MissingExtraError, StoreNotFoundError

if TYPE_CHECKING:
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.web import LocalAccess, ServedStore

_TOKEN_VARIABLE = "SIMDOC_SERVE_TOKEN"  # noqa: S105 - this is the name of a variable, not a token


@click.command(cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", shell_complete=complete_paths)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port to listen on. 0 chooses a free port.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help=f"Address to listen on. If other machines can reach it, set {_TOKEN_VARIABLE} to an access token of at least "
    "16 characters.",
)
@click.option(
    "--allowed-host", "allowed_hosts", multiple=True, metavar="NAME",
    help="Also accept requests to this host name, such as the name of a proxy. Repeatable.",
)  # fmt: skip
@click.option(
    "--allow-apply", is_flag=True,
    help="Let the web pages move duplicates into the folder simdoc-search-removed in your home folder, and move them "
    "back. Only works if no other computer can reach the server.",
)  # fmt: skip
@show_option
@workers_option
@index_options()
def serve(
    folders: tuple[str, ...],
    port: int,
    host: str,
    allowed_hosts: tuple[str, ...],
    allow_apply: bool,
    show: tuple[str, ...],
    workers: int,
    index: ChosenIndex,
) -> None:
    """Search the index in a browser.

    With FOLDER, the command first indexes the folder. The pages show all documents in the index.

    Programs can get JSON from the same URLs. Without --allow-apply, the server changes neither files nor the index.
    It does not keep the texts and files that you submit. Press Ctrl-C to stop it.

    \b
      simdoc-search serve ~/Documents             then open http://127.0.0.1:8765/
      simdoc-search serve
      simdoc-search serve --store ./old --port 9000
    """
    with require_extra("the server", "web"):
        from simdoc_search.web import Server, is_loopback, make_app, open_listening_socket
    token = _read_token(is_required=not is_loopback(host))
    local = _local_access(index.location, allow_apply=allow_apply) if is_loopback(host) and not allowed_hosts else None
    if allow_apply and local is None:
        raise click.UsageError(
            "--allow-apply cannot be combined with --allowed-host, or with a --host that other computers can reach; "
            "omit --host and --allowed-host"
        )
    with open_listening_socket(host, port) as listening:
        if folders:
            index_paths(folders, index, workers=workers, quiet=False).search.close()
        try:
            served_store = open_served_store(index, show, local)
        except StoreNotFoundError as error:
            command = command_line(index.location, "serve", "FOLDER")
            raise StoreNotFoundError(f"{error}; to index a folder and serve it, run: {command}") from None
        is_wildcard = host in ("0.0.0.0", "::", "")  # noqa: S104 - the address is compared, not bound
        app = make_app(served_store, hosts=[host, *allowed_hosts], allows_any_address=is_wildcard, token=token)
        url_host = f"[{host}]" if ":" in host else host
        say(f"http://{url_host}:{listening.getsockname()[1]}/   press Ctrl-C to stop the server")
        with suppress(KeyboardInterrupt):
            Server(app, served_store.close).run([listening])


def _local_access(store: str, *, allow_apply: bool) -> LocalAccess:
    from simdoc_search.stores.location import absolute_location
    from simdoc_search.web import LocalAccess

    removed_files_folder = Path.home() / "simdoc-search-removed" if allow_apply else None
    return LocalAccess(
        absolute_location(store), removed_files_folder, read_config_value("index", "exclude_files") or ()
    )


def _read_token(*, is_required: bool) -> str | None:
    from simdoc_search.web import MIN_TOKEN_LENGTH

    token = os.environ.get(_TOKEN_VARIABLE, "").strip()
    if token and len(token) < MIN_TOKEN_LENGTH:
        length = format_count(len(token), "character")
        raise click.UsageError(f"{_TOKEN_VARIABLE} has {length}; use at least {MIN_TOKEN_LENGTH}")
    if is_required and not token:
        raise click.UsageError(
            "anyone who can reach this address could read the documents. "
            f"Set {_TOKEN_VARIABLE} to a secret of at least {MIN_TOKEN_LENGTH} characters, or omit --host"
        )
    return token or None


@contextmanager
def require_extra(subject: str, extra: str) -> Iterator[None]:
    """Convert an import error in the block to a `MissingExtraError`, unless a module of this package is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "simdoc_search":
            raise
        raise MissingExtraError(subject, extra) from error


def open_served_store(index: ChosenIndex, show: tuple[str, ...] = (), local: LocalAccess | None = None) -> ServedStore:
    """Open a store for a server. A missing store is reported before the server starts."""
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores import open_store
    from simdoc_search.web import ServedStore

    def open_search() -> SimilaritySearch:
        return SimilaritySearch(open_store(index.location, **index.options))

    served_store = ServedStore(open_search, _location_forms(index.location), show, local)
    served_store.search()
    return served_store


def _location_forms(store: str) -> list[str]:
    """Return the forms in which a message may contain the store's location."""
    if "://" in store:
        return [store, without_credentials(store)]
    return [store, os.path.abspath(store), os.path.realpath(store)]  # noqa: PTH100 - resolve() would follow links
