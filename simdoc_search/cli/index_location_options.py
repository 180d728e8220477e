"""`--store`, `--engine`, `--field` and `--text-field`: they say which index a command uses, and how to open it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from simdoc_search.cli.common import LEFT_OUT_INDICES_KEY, Decorator, add_options, say
from simdoc_search.display import DEFAULT_STORE
from simdoc_search.stores.location import ENGINES

if TYPE_CHECKING:
    from simdoc_search.stores.base import Store


class ChosenIndex(NamedTuple):
    """The index that the options of a command name, and the further arguments of `open_store` that they set."""

    location: str
    options: dict[str, Any]

    def open(self, **options: Any) -> Store:
        """Open the index. Indices that cannot be queried are reported after the output, or in the JSON."""
        from simdoc_search.stores import open_store

        store = open_store(self.location, **self.options, **options)
        context = click.get_current_context()
        if indices := store.left_out_indices():
            context.meta[LEFT_OUT_INDICES_KEY] = indices
            context.call_on_close(lambda: _report_left_out_indices(context))
        return store


def _report_left_out_indices(context: click.Context) -> None:
    for index in context.meta.get(LEFT_OUT_INDICES_KEY, ()):
        say(f"note: {index}", err=True)


def _reject_memory_store(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value == ":memory:":
        raise click.BadParameter(
            f"the index {value!r} is in memory and would be lost when the command ends; choose a folder"
        )
    return value


_text_field_option: Final = click.option(
    "--text-field",
    "text_fields",
    multiple=True,
    metavar="FIELD",
    help="Field with the texts, if simdoc-search did not create the index. If repeated, the fields are joined into one "
    "text.  [default: the field given to the first backfill]",
)

field_option: Final = click.option(
    "--field",
    metavar="FIELD",
    help="Fingerprint field of the index.  [default: the only fingerprint field, or simdoc if there is none]",
)

engine_option: Final = click.option(
    "--engine", type=click.Choice(ENGINES), help="Kind of engine at the URL.  [default: detected]"
)


field_options: Final = add_options(_text_field_option, field_option)


def _make_store_option(*, needs_engine: bool) -> Decorator:
    """Return a decorator that adds `--store` and `--engine`."""
    place = "URL of the index" if needs_engine else "Index to use: a folder or a URL"
    option = click.option(
        "--store",
        callback=_reject_memory_store,
        default=DEFAULT_STORE,
        envvar="SIMDOC_STORE",
        show_default=not needs_engine,
        show_envvar=True,
        metavar="URL" if needs_engine else "PATH|URL",
        help=f"{place}, such as http://localhost:9200/articles.",
    )
    return add_options(option, engine_option)


store_option: Final = _make_store_option(needs_engine=False)


def index_options(*, reads_texts: bool = True, needs_engine: bool = False) -> Decorator:
    """Return a decorator that adds the options. The command gets a `ChosenIndex` as its parameter `index`.

    Args:
        reads_texts: whether to add `--text-field`.
        needs_engine: whether the index must be in an engine.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*, store: str, engine: str | None, field: str | None, **values: Any) -> Any:
            options: dict[str, Any] = {"engine": engine, "field": field}
            if reads_texts:
                options["text_field"] = values.pop("text_fields")
            return command(index=ChosenIndex(store, options), **values)

        fields = field_options if reads_texts else field_option
        return add_options(fields, _make_store_option(needs_engine=needs_engine))(run)

    return add
