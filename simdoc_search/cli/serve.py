"""`simdoc-search serve`: the store as pages in the browser, and as a service for programs."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.columns import show_option
from simdoc_search.cli.common import errors_as_sentences, field_options, say, store_option
from simdoc_search.cli.logs import show_log
from simdoc_search.errors import MissingExtraError

if TYPE_CHECKING:
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores.location import EngineKind

_TOKEN = "SIMDOC_SERVE_TOKEN"  # noqa: S105 - the name of a variable


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes any that is free."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help=f"Where to listen. Others than this machine need an access token: {_TOKEN}, of at least 16 characters.",
)
@click.option(
    "--name", "names", multiple=True, metavar="NAME", help="A further name of this server, as behind a proxy."
)
@show_option
@field_options
@store_option
@errors_as_sentences
def serve(
    port: int,
    host: str,
    names: tuple[str, ...],
    show: tuple[str, ...],
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
) -> None:
    """Serve the store as pages for a browser, until Ctrl-C; the same addresses give JSON to programs.

    Nothing is changed: it only reads. A text or file that is asked with is kept nowhere.

    \b
      simdoc-search serve                         then open http://127.0.0.1:8765/
      simdoc-search serve --store ./old --port 9000
    """
    try:
        from simdoc_search.web import Collection, Server, bound, is_loopback, make_app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"starlette", "uvicorn", "jinja2", "python_multipart"}:
            raise
        raise MissingExtraError("the server", "web") from error
    show_log(click.get_current_context(), logging.WARNING)
    token = _token(is_needed=not is_loopback(host))
    collection = Collection(partial(_opened, store, engine, text_fields, field), _spellings(store), show)
    collection.search()  # what is wrong is said before anybody comes
    listening = bound(host, port)
    is_any = host in ("0.0.0.0", "::", "")  # noqa: S104 - it is compared
    app = make_app(collection, hosts=[host, *names], any_address=is_any, token=token)
    shown = f"[{host}]" if ":" in host else host
    say(f"http://{shown}:{listening.getsockname()[1]}/   Ctrl-C ends it")
    with listening, suppress(KeyboardInterrupt):  # which is how it ends
        Server(app, collection.close).run([listening])


def _token(*, is_needed: bool) -> str | None:
    from simdoc_search.web import SHORTEST_TOKEN

    token = os.environ.get(_TOKEN, "").strip()
    if token and len(token) < SHORTEST_TOKEN:
        raise click.UsageError(f"{_TOKEN} has only {len(token)} characters; {SHORTEST_TOKEN} are the least")
    if is_needed and not token:
        raise click.UsageError(
            f"whoever reaches this address could read the documents; set {_TOKEN} to a secret of at least "
            f"{SHORTEST_TOKEN} characters, or leave out --host"
        )
    return token or None


def _opened(store: str, engine: EngineKind | None, text_fields: tuple[str, ...], field: str | None) -> SimilaritySearch:
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    return SimilaritySearch(open_store(store, engine=engine, text_field=text_fields, field=field))


def _spellings(store: str) -> list[str]:
    """How messages may name the place of the store."""
    from simdoc_search.display import without_credentials

    if "://" in store:
        return [store, without_credentials(store)]
    return [store, os.path.abspath(store), os.path.realpath(store)]  # noqa: PTH100 - links as they are
