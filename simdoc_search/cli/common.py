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
from typing import Any, Final, ParamSpec, TextIO, TypeVar

import click

from simdoc_search.cli import OUT_OF_MEMORY
from simdoc_search.display import harmless, harmless_json, printable
from simdoc_search.errors import LocationError, QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.stores.location import ENGINES
from simdoc_search.workers.memory import is_out_of_memory

LEFT_OUT = "simdoc_search.left_out"
"""Where a command keeps the indices that its answer leaves out, until they are said."""

Parameters = ParamSpec("Parameters")
Command = TypeVar("Command", bound=Callable[..., Any])


class Interrupted(click.ClickException):
    """Ctrl-C; the message says what is done already."""

    exit_code = 130


def _place(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value == ":memory:":
        raise click.BadParameter("a store in memory is for programs, it would be gone at once; name a folder")
    return value


engine_option: Final = click.option(
    "--engine", type=click.Choice(ENGINES), help="Which engine answers at the URL.  [default: it is asked]"
)


def store_option(command: Command) -> Command:
    """`--store` and `--engine`."""
    option = click.option(
        "--store",
        callback=_place,
        default="./.simdoc",
        envvar="SIMDOC_STORE",
        show_default=True,
        show_envvar=True,
        metavar="PATH|URL",
        help="Where the index is: a folder, or http://host:port/index of an engine.",
    )
    return option(engine_option(command))


text_field_option: Final = click.option(
    "--text-field",
    "text_fields",
    multiple=True,
    metavar="FIELD",
    help="In an index of an application: the field of the text; if repeated, they are one text.  [default: what "
    "backfill took]",
)
"""For a command that reads texts; `open_store` takes them as `text_field`."""


field_option: Final = click.option(
    "--field",
    metavar="FIELD",
    help="In an engine: the object field of the fingerprints.  [default: the one in use, simdoc]",
)
"""For a command that asks an index; `open_store` takes it as `field`."""


def field_options(command: Command) -> Command:
    """`--text-field` and `--field`."""
    return text_field_option(field_option(command))


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def errors_as_sentences(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn what the library raises on purpose into one sentence and the right exit code."""

    @functools.wraps(command)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with sentences():
            command(*args, **kwargs)

    return wrapper


@contextmanager
def sentences() -> Iterator[None]:
    """Errors of the library, of click and of a person who presses Ctrl-C: one harmless sentence, and an exit code."""
    try:
        yield
    except (QuerySyntaxError, LocationError) as error:
        raise click.UsageError(harmless(str(error))) from error
    except SimdocError as error:
        said = OUT_OF_MEMORY if is_out_of_memory(error) else _of_a_file(error) or str(error)
        raise click.ClickException(harmless(said)) from error
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise click.ClickException(OUT_OF_MEMORY) from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, of many lines
            raise
        said = error.format_message()  # click repeats what was typed
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            said = f"{said.removesuffix('.')}; a name that begins with a dash comes after --"
        raise click.UsageError(harmless(said), error.ctx) from error
    except click.ClickException as error:
        kind = Interrupted if isinstance(error, Interrupted) else click.ClickException
        raise kind(harmless(error.format_message())) from error


def _of_a_file(error: SimdocError) -> str:
    """What is said where a file is there, and no document of the store is meant by it; empty for all else."""
    if not isinstance(error, UnknownDocumentError) or error.ids or not os.path.isfile(error.id):  # noqa: PTH113 - may have a NUL
        return ""
    context = click.get_current_context(silent=True)
    takes_files = context is not None and any("--file" in each.opts for each in context.command.params)
    asks = "; --file asks with it" if takes_files else ""
    return f"the file {error.id!r} is not in the store{asks}; simdoc-search index takes it in, or says why not"


def say(text: str = "", *, err: bool = False) -> None:
    """One line for people; nothing in it steers the terminal."""
    click.echo(printable(text), err=err)


def byte_size(count: int) -> str:
    """Bytes for people, in the decimal units in which disks are sold."""
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def with_left_out(value: dict[str, Any]) -> dict[str, Any]:
    """An answer with the indices that it leaves out, which are then said."""
    context = click.get_current_context(silent=True)
    found = context.meta.pop(LEFT_OUT, ()) if context else ()
    return {**value, "left_out_indices": [asdict(each) for each in found]} if found else value


def print_json(value: dict[str, Any], *, in_ascii: bool = False) -> None:
    """One JSON object on stdout, in whatever encoding that has; nothing in it steers a terminal."""
    value = with_left_out(value)
    is_unicode = not in_ascii and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(harmless_json(json.dumps(value, ensure_ascii=not is_unicode, indent=2)))


@contextmanager
def document_progress(*, hidden: bool, of_total: bool = False, of_bytes: bool = False) -> Iterator[Callable[..., None]]:
    """A count of documents on stderr, or of bytes; a bar if their total becomes known; nothing where is no terminal.

    Yields what changes it: `advance`, or `completed` and `total`, as rich's `Progress.update` takes them.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns: tuple[ProgressColumn, ...]
    if of_bytes:
        columns = (BarColumn(), DownloadColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    elif of_total:
        count = TextColumn("{task.completed:,.0f} of {task.total:,.0f} documents")
        columns = (BarColumn(), count, TimeElapsedColumn(), TimeRemainingColumn())
    else:
        columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} documents"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=hidden or not console.is_terminal, transient=True) as bar:
        yield functools.partial(bar.update, bar.add_task("documents", total=0 if of_total or of_bytes else None))


@contextmanager
def share_progress(*, hidden: bool) -> Iterator[Callable[[str, float], None]]:
    """A bar on stderr for each stage of a long task, with the time that is left; nothing where that is no terminal.

    Yields what changes it: the name of the stage, and the share of it that is done, 0..1.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=hidden or not console.is_terminal, transient=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, share: float) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0)
            bar.update(stages[stage], completed=share)

        yield update


@contextmanager
def text_file(path: Path, *, newline: str = "\n") -> Iterator[TextIO]:
    """A text file that a person named, open for writing. It is written completely or not at all.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.durable import MAKE_ROOM, is_full, whole_file

    try:
        with whole_file(path) as file:
            text = TextIOWrapper(file, "utf-8", newline=newline)
            yield text
            text.detach()  # which flushes it
    except OSError as error:
        advice = MAKE_ROOM if is_full(error) else "check the folder"
        raise click.ClickException(f"cannot write {path}: {error.strerror}; {advice}") from None


def write_file(path: Path, text: str) -> None:
    """Write a text file that a person named, as `text_file` does."""
    with text_file(path) as file:
        file.write(text)
