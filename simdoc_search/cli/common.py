"""Options and output that several commands share."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TextIO, TypeVar

import click

from simdoc_search.cli import OUT_OF_MEMORY
from simdoc_search.display import printable, safe_json, safe_message
from simdoc_search.errors import LocationError, QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.stores.location import ENGINES
from simdoc_search.workers.memory import is_out_of_memory

if TYPE_CHECKING:
    from rich.progress import Progress

    from simdoc_search.stores.base import Store

LEFT_OUT = "simdoc_search.left_out"
"""Key in the context of a command for the indices that its answer leaves out, until they are reported."""

Parameters = ParamSpec("Parameters")
Command = TypeVar("Command", bound=Callable[..., Any])

# --- options ---


def _on_disk(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value == ":memory:":
        raise click.BadParameter("a store in memory would be gone when the command ends; name a folder")
    return value


engine_option: Final = click.option(
    "--engine", type=click.Choice(ENGINES), help="The engine at the URL.  [default: detected]"
)


def store_option(command: Command) -> Command:
    """`--store` and `--engine`."""
    option = click.option(
        "--store",
        callback=_on_disk,
        default="./.simdoc",
        envvar="SIMDOC_STORE",
        show_default=True,
        show_envvar=True,
        metavar="PATH|URL",
        help="The index: a folder, or http://host:port/index of an engine.",
    )
    return option(engine_option(command))


text_field_option: Final = click.option(
    "--text-field",
    "text_fields",
    multiple=True,
    metavar="FIELD",
    help="Field of the text in an application's index. If repeated, the fields are one text.  [default: the field "
    "given to backfill]",
)
"""For a command that reads texts; `open_store` takes them as `text_field`."""


field_option: Final = click.option(
    "--field",
    metavar="FIELD",
    help="Object field of the fingerprints in an engine.  [default: the one in use, simdoc]",
)
"""For a command that queries an index; `open_store` takes it as `field`."""


def field_options(command: Command) -> Command:
    """`--text-field` and `--field`."""
    return text_field_option(field_option(command))


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

# --- errors ---


class Interrupted(click.ClickException):
    """Ctrl-C. The message says what is already done."""

    exit_code = 130


def errors_as_sentences(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Decorate a command so that its errors become one sentence and the right exit code."""

    @functools.wraps(command)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with sentences():
            command(*args, **kwargs)

    return wrapper


@contextmanager
def sentences() -> Iterator[None]:
    """Turn errors of the library and of click, and Ctrl-C, into one safe sentence and an exit code."""
    try:
        yield
    except (QuerySyntaxError, LocationError) as error:
        raise click.UsageError(safe_message(str(error))) from error
    except SimdocError as error:
        message = OUT_OF_MEMORY if is_out_of_memory(error) else _about_a_file(error) or str(error)
        raise click.ClickException(safe_message(message)) from error
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise click.ClickException(OUT_OF_MEMORY) from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, of many lines
            raise
        message = error.format_message()  # click repeats what was typed
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            message = f"{message.removesuffix('.')}; write -- before a name that begins with a dash"
        raise click.UsageError(safe_message(message), error.ctx) from error
    except click.ClickException as error:
        kind = Interrupted if isinstance(error, Interrupted) else click.ClickException
        raise kind(safe_message(error.format_message())) from error


def _about_a_file(error: SimdocError) -> str:
    """Return the message for an unknown document that is the path of a file; empty for other errors."""
    if not isinstance(error, UnknownDocumentError) or error.id_hint or not os.path.isfile(error.id):  # noqa: PTH113 - may have a NUL
        return ""
    context = click.get_current_context(silent=True)
    takes_files = context is not None and any("--file" in parameter.opts for parameter in context.command.params)
    hint = "; use --file to query with it" if takes_files else ""
    return f"the file {error.id!r} is not in the store{hint}; run simdoc-search index to add it or to see why it fails"


# --- stores ---


def open_for_query(location: str, **options: Any) -> Store:
    """Open a store, as `open_store`. Indices that cannot be queried are named after the answer, or in its JSON."""
    from simdoc_search.stores import open_store

    store = open_store(location, **options)
    context = click.get_current_context()
    if indices := store.left_out_indices():
        context.meta[LEFT_OUT] = indices
        context.call_on_close(lambda: _report_left_out(context))
    return store


def _report_left_out(context: click.Context) -> None:
    for index in context.meta.get(LEFT_OUT, ()):
        say(f"note: {index}", err=True)


# --- output ---


def say(text: str = "", *, err: bool = False) -> None:
    """Print one line for people. Nothing in it steers the terminal."""
    click.echo(printable(text), err=err)


def json_text(value: Any, *, in_ascii: bool = False, indent: int | None = None) -> str:
    """Return JSON in the encoding of stdout. Nothing in it steers a terminal."""
    is_unicode = not in_ascii and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(value, ensure_ascii=not is_unicode, indent=indent))


def print_json(value: dict[str, Any], *, in_ascii: bool = False) -> None:
    """Print one JSON object, with the indices that the answer leaves out."""
    click.echo(json_text(with_left_out(value), in_ascii=in_ascii, indent=2))


def with_left_out(value: dict[str, Any]) -> dict[str, Any]:
    """Add the indices that an answer leaves out, which then count as reported."""
    context = click.get_current_context(silent=True)
    indices = context.meta.pop(LEFT_OUT, ()) if context else ()
    return {**value, "left_out_indices": [asdict(index) for index in indices]} if indices else value


@contextmanager
def document_progress(*, hidden: bool, of_total: bool = False, of_bytes: bool = False) -> Iterator[Callable[..., None]]:
    """Show a count of documents on stderr, or a bar of documents or bytes if their total will be known.

    Yields a function that takes `advance`, or `completed` and `total`, as `Progress.update` of rich does.
    """
    from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn

    if of_bytes:
        bar = _progress(hidden, BarColumn(), DownloadColumn(), has_end=True)
    elif of_total:
        count = TextColumn("{task.completed:,.0f} of {task.total:,.0f} documents")
        bar = _progress(hidden, BarColumn(), count, has_end=True)
    else:
        bar = _progress(hidden, SpinnerColumn(), TextColumn("{task.completed:,.0f} documents"), has_end=False)
    with bar:
        yield functools.partial(bar.update, bar.add_task("documents", total=0 if of_total or of_bytes else None))


@contextmanager
def share_progress(*, hidden: bool) -> Iterator[Callable[[str, float], None]]:
    """Show a bar on stderr for each stage of a long task.

    Yields a function that takes the name of the stage, and the finished share of it, 0..1.
    """
    from rich.progress import BarColumn, TextColumn

    with _progress(hidden, TextColumn("{task.description:<10}"), BarColumn(), has_end=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, share: float) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0)
            bar.update(stages[stage], completed=share)

        yield update


def _progress(hidden: bool, *columns: Any, has_end: bool) -> Progress:
    """Return progress bars with the times, hidden if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    times = (TimeElapsedColumn(), *([TimeRemainingColumn()] if has_end else []))
    return Progress(*columns, *times, console=console, disable=hidden or not console.is_terminal, transient=True)


@contextmanager
def text_file(path: Path, *, newline: str = "\n") -> Iterator[TextIO]:
    """Open a text file that a person named for writing. It is written completely or not at all.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.durable import DISK_FULL_ADVICE, atomic_file, is_full

    try:
        with atomic_file(path) as file:
            text = TextIOWrapper(file, "utf-8", newline=newline)
            yield text
            text.detach()  # which flushes it
    except OSError as error:
        advice = DISK_FULL_ADVICE if is_full(error) else "check the folder"
        raise click.ClickException(f"cannot write {path}: {error.strerror}; {advice}") from None


def write_file(path: Path, text: str) -> None:
    """Write a text file that a person named, as `text_file` does."""
    with text_file(path) as file:
        file.write(text)
