"""`simdoc-search index`: put documents into the store."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import asdict, replace
from typing import Any

import click

from simdoc_search.cli.common import counted, errors_as_sentences, json_option, print_json, printable, store_option
from simdoc_search.corpus.document import Skipped
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport
from simdoc_search.sketch.settings import Settings

__all__ = ["index"]

_SHOWN, _SHOWN_OF_MANY = 20, 5  # skipped files of one reason listed for people, if it is the only one or not


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@store_option
@click.option("--workers", type=click.IntRange(min=1), help="Processes to read with.  [default: one per core]")
@click.option("--checksum", is_flag=True, help="Read files again even if size and time of change are as before.")
@click.option("--prune", is_flag=True, help="Remove documents whose file has vanished from the folders.")
@click.option("--max-size", type=click.FloatRange(min=0), default=50, show_default=True, metavar="MB",
              help="Skip larger files.")  # fmt: skip
@click.option("--id-field", default="id", show_default=True, help="JSONL: the key of the id.")
@click.option("--text-field", default="text", show_default=True, help="JSONL: the key of the text.")
@click.option("--stdin-id", metavar="ID", help="Stdin (-) is one plain text with this id. Otherwise it is JSONL.")
@click.option("--no-texts", is_flag=True, help="New store: keep no texts, only fingerprints.")
@click.option("--profile", type=click.Choice(["nfkc_cf", "lowercase"]), help="New store: how words are compared.")
@click.option("--shingle-size", type=click.IntRange(min=1), help="New store: words in a shingle.  [default: 5]")
@click.option("--unit", type=click.Choice(["word", "character"]), help="New store: what a shingle is made of.")
@click.option(
    "--file-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=FILE_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Skip a file that takes longer to read.",
)
@json_option
@errors_as_sentences
def index(
    paths: tuple[str, ...],
    store: str,
    workers: int | None,
    checksum: bool,
    prune: bool,
    max_size: float,
    id_field: str,
    text_field: str,
    stdin_id: str | None,
    no_texts: bool,
    profile: str | None,
    shingle_size: int | None,
    unit: str | None,
    file_timeout: float,
    as_json: bool,
) -> None:
    """Index folders, files, JSONL files (named *.jsonl) or stdin (-).

    Run it again to bring the index up to date: only what changed is read. An interrupted run is completed by running
    it again.

    \b
      simdoc-search index ./corpus
      simdoc-search index documents.jsonl --store ./docs.simdoc
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if not math.isfinite(max_size):
        raise click.BadParameter(f"{max_size} is not a size; give megabytes", param_hint="--max-size")
    chosen = {"profile": profile, "shingle_size": shingle_size, "unit": unit}
    settings = _settings(store, {name: value for name, value in chosen.items() if value is not None})
    sources = read_corpus(
        paths, max_bytes=int(max_size * 1e6), id_field=id_field, text_field=text_field, stdin_id=stdin_id
    )
    first = list(itertools.islice(sources, 1))  # a folder without files is an error before a store is made
    search = SimilaritySearch(open_store(store, settings, create=True, store_texts=False if no_texts else None))
    try:
        with _progress(as_json) as advance:
            report = search.index(
                itertools.chain(first, sources),
                workers=workers or os.cpu_count() or 1,
                checksum=checksum,
                prune=prune,
                file_timeout=file_timeout,
                progress=advance,
            )
    except KeyboardInterrupt:
        raise click.ClickException("interrupted; what was ready is stored, run the same command to go on") from None
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report)


def _settings(store: str, chosen: dict[str, Any]) -> Settings | None:
    """What the options ask for; what they leave open is as the store has it."""
    from simdoc_search.stores import open_store

    if not chosen:
        return None
    try:
        here = open_store(store).settings
    except StoreNotFoundError:
        here = Settings()
    return replace(here, analysis=replace(here.analysis, **chosen))


class _progress:  # noqa: N801 - used like a function
    """A bar on stderr that counts documents; none where stderr is not a terminal."""

    def __init__(self, hidden: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} documents"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, disable=hidden or not console.is_terminal, transient=True)
        self._task = self._bar.add_task("index", total=None)

    def __enter__(self) -> Any:
        self._bar.start()
        return lambda count: self._bar.advance(self._task, count)

    def __exit__(self, *error: object) -> None:
        self._bar.stop()


def _as_json(report: IndexReport) -> dict[str, Any]:
    skipped = [{"path": each.path, "reason": each.reason} for each in report.skipped]
    return {**asdict(report), "skipped": skipped}


def _print(report: IndexReport) -> None:
    counts = [f"{report.indexed:,} indexed", f"{report.unchanged:,} unchanged"]
    counts += [f"{getattr(report, name):,} {name}" for name in ("replaced", "deleted") if getattr(report, name)]
    if report.duplicates:
        counts.append(counted(report.duplicates, "duplicate id"))
    if report.skipped:
        counts.append(f"{len(report.skipped):,} skipped")
    click.echo(", ".join(counts) + f" in {report.seconds:.1f} s")
    _print_skipped(report.skipped)


def _print_skipped(skipped: list[Skipped]) -> None:
    """A few of each reason, so that one reason does not hide the others; --json has all."""
    examples: dict[str, list[str]] = {}
    for each in skipped:
        examples.setdefault(each.reason, []).append(each.path)
    shown = _SHOWN if len(examples) == 1 else _SHOWN_OF_MANY
    for reason, paths in sorted(examples.items(), key=lambda item: -len(item[1])):
        for path in paths[:shown]:
            click.echo(f"  {printable(f'{path}: {reason}')}", err=True)
        if len(paths) > shown:
            click.echo(f"  and {len(paths) - shown:,} more: {printable(reason)}", err=True)
