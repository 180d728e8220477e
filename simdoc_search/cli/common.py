"""The error handling and output that all commands share, `--json` and `--workers`."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from simdoc_search.cli import OUT_OF_MEMORY_MESSAGE
from simdoc_search.display import format_count, printable, quote_command, safe_json, safe_message
from simdoc_search.errors import LocationError, QuerySyntaxError, SimdocError, UnknownDocumentError, is_out_of_memory

if TYPE_CHECKING:
    from rich.progress import Progress

    from simdoc_search.stores.base import Store

QUIET_KEY = "simdoc_search.quiet"
"""Key in the `meta` of a click context: whether `--quiet` was given."""

LEFT_OUT_INDICES_KEY = "simdoc_search.left_out"
"""Key in the `meta` of a click context: the indices that were not queried and have not been reported yet."""

TABLE_ADVICE = "To remove rows of a table or a JSONL file, run: simdoc-search dedupe FILE -o KEPT"
"""Printed by `duplicates` and `apply`, which cannot remove rows of tables."""

_MAX_LEFT_OUT_DOCUMENTS = 3
_MAX_PRINTED_FAILURES = 5

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# --- options ---


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds these options to a command."""
    return lambda command: functools.reduce(lambda decorated, option: option(decorated), reversed(options), command)


def count_workers(_context: click.Context, _parameter: click.Parameter, workers: int | None) -> int:
    """Return the value of `--workers`, or the number of cores if it is not given."""
    return workers or os.cpu_count() or 1


workers_option: Final = click.option(
    "--workers",
    type=click.IntRange(min=1),
    callback=count_workers,
    help="Maximum number of worker processes.  [default: one per core]",
)

json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

# --- errors ---


class CommandInterruptedError(click.ClickException):
    """The user pressed Ctrl-C. The message says what the command had completed."""

    exit_code = 130


@contextmanager
def explain_interruption(explanation: str = "run the same command again to resume") -> Iterator[None]:
    """Convert Ctrl-C in the block to an error that says what the command had completed, or what to do."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandInterruptedError(f"interrupted; {explanation}") from None


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert errors, including Ctrl-C, to click errors with one printable sentence."""
    context = click.get_current_context(silent=True)
    try:
        yield
    except (QuerySyntaxError, LocationError) as error:
        raise click.UsageError(safe_message(str(error)), context) from error
    except SimdocError as error:
        message = OUT_OF_MEMORY_MESSAGE if is_out_of_memory(error) else _unindexed_file_message(error) or str(error)
        raise click.ClickException(safe_message(message)) from error
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise click.ClickException(OUT_OF_MEMORY_MESSAGE) from error
    except KeyboardInterrupt:
        raise CommandInterruptedError("interrupted") from None
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this error is the whole help text
            raise
        message = error.format_message()  # may contain control characters that the user typed
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            message = f"{message.removesuffix('.')}; if it is an argument, write `--` before it"
        raise click.UsageError(safe_message(message), error.ctx) from error
    except click.ClickException as error:
        kind = CommandInterruptedError if isinstance(error, CommandInterruptedError) else click.ClickException
        raise kind(safe_message(error.format_message())) from error


def _unindexed_file_message(error: SimdocError) -> str:
    """Return the message for an unknown document whose id is the path of a file; empty for other errors."""
    if not isinstance(error, UnknownDocumentError) or error.id_hint or not os.path.isfile(error.id):  # noqa: PTH113 - Path.is_file may raise for a long name
        return ""
    context = click.get_current_context(silent=True)
    takes_files = context is not None and any("--file" in parameter.opts for parameter in context.command.params)
    hint = "use --file to read it directly, or " if takes_files else ""
    return (
        f"the file {error.id!r} is not in the index; {hint}run `simdoc-search index`, which adds the file or "
        "prints why the file is skipped"
    )


# --- output ---


def is_quiet() -> bool:
    """Return whether `--quiet` was given to the command that runs."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(QUIET_KEY))


def say(text: str = "", *, err: bool = False) -> None:
    """Print one line for people, without control characters. On stderr, `--quiet` hides all lines except errors."""
    if err and is_quiet() and not text.startswith("Error: "):
        return
    click.echo(printable(text), err=err)


def shorten_path(path: str) -> str:
    """Return a path relative to the current folder, if it is in this folder."""
    return path.removeprefix(os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - the path is a str


def left_out_lines(documents: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of the first documents that were left out, and the number of the others.

    `documents` has the id and the reason of each, as the rest of a sentence.
    """
    yield from (f"left out: the document {document}" for document in documents[:_MAX_LEFT_OUT_DOCUMENTS])
    if more := len(documents[_MAX_LEFT_OUT_DOCUMENTS:]):
        yield f"left out: {format_count(more, 'more document')}; --json lists all of them"


def renewal_advice(store: Store) -> str:
    """Say how to renew the fingerprint of a document that changed after indexing."""
    if store.is_simdoc_index:
        return "index the document again"
    return f"run `{quote_command('backfill', store.location, '--stale')}`"


def json_text(value: Any, *, ascii_only: bool = False, indent: int | None = None) -> str:
    """Return JSON that stdout can encode, without control characters."""
    is_unicode = not ascii_only and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(value, ensure_ascii=not is_unicode, indent=indent))


def print_json(value: dict[str, Any], *, ascii_only: bool = False) -> None:
    """Print one JSON object. Indices that were not queried are added to it."""
    click.echo(json_text(with_left_out_indices(value), ascii_only=ascii_only, indent=2))


def fail_if_queries_failed(failures: Sequence[tuple[str, str]], total: int, as_json: bool) -> None:
    """Raise a ClickException if queries failed. `failures` are their names and the reasons.

    With `as_json`, the first failures are printed to stderr, because a person rarely reads the JSON.
    """
    if not failures:
        return
    if as_json:
        for name, reason in failures[:_MAX_PRINTED_FAILURES]:
            say(f"  {name}: {reason}", err=True)
        if len(failures) > _MAX_PRINTED_FAILURES:
            say(f"  and {len(failures) - _MAX_PRINTED_FAILURES:,} more; the JSON lists all", err=True)
    raise click.ClickException(f"{len(failures):,} of {format_count(total, 'query', 'queries')} failed")


def with_left_out_indices(value: dict[str, Any]) -> dict[str, Any]:
    """Add the indices that were not queried. They are not reported again when the command ends."""
    context = click.get_current_context(silent=True)
    indices = context.meta.pop(LEFT_OUT_INDICES_KEY, ()) if context else ()
    return {**value, "left_out_indices": [asdict(index) for index in indices]} if indices else value


@contextmanager
def document_progress(
    *, hidden: bool, has_total: bool = False, counts_bytes: bool = False
) -> Iterator[Callable[..., None]]:
    """Show progress on stderr: a document count, a bar of documents if `has_total`, or a bar if `counts_bytes`.

    Yields:
        A function that takes `advance`, or `completed` and `total`, like rich's `Progress.update`.
    """
    from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn

    if counts_bytes:
        bar = make_progress(hidden, BarColumn(), DownloadColumn(), shows_remaining_time=True)
    elif has_total:
        count = TextColumn("{task.completed:,.0f} of {task.total:,.0f} documents")
        bar = make_progress(hidden, BarColumn(), count, shows_remaining_time=True)
    else:
        bar = make_progress(
            hidden, SpinnerColumn(), TextColumn("{task.completed:,.0f} documents"), shows_remaining_time=False
        )
    with bar:
        yield functools.partial(bar.update, bar.add_task("documents", total=0 if has_total or counts_bytes else None))


@contextmanager
def stage_progress(*, hidden: bool) -> Iterator[Callable[[str, float], None]]:
    """Show a bar on stderr for each stage of a long task.

    Yields:
        A function that takes the name of a stage and the completed share of this stage, 0..1.
    """
    from rich.progress import BarColumn, TextColumn

    with make_progress(hidden, TextColumn("{task.description:<10}"), BarColumn(), shows_remaining_time=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, share: float) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0)
            bar.update(stages[stage], completed=share)

        yield update


def make_progress(hidden: bool, *columns: Any, shows_remaining_time: bool) -> Progress:
    """Return progress bars with the elapsed and the remaining time. They are hidden if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    times = (TimeElapsedColumn(), *([TimeRemainingColumn()] if shows_remaining_time else []))
    return Progress(
        *columns, *times, console=console, disable=hidden or is_quiet() or not console.is_terminal, transient=True
    )


@contextmanager
def open_text_file(path: Path, *, newline: str = "\n") -> Iterator[TextIO]:
    """Open an output file for writing. It is written completely or not at all."""
    from simdoc_search.durable import DISK_FULL_ADVICE, atomic_file, is_disk_full

    try:
        with atomic_file(path) as file:
            text = TextIOWrapper(file, "utf-8", newline=newline)
            yield text
            text.detach()  # flushes the text
    except OSError as error:
        advice = DISK_FULL_ADVICE if is_disk_full(error) else "check that the folder exists and is writable"
        raise click.ClickException(f"cannot write {path}: {error.strerror}; {advice}") from None
