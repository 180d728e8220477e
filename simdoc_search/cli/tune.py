"""`simdoc-search tune`: learns thresholds from labelled pairs."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_options import word_settings
from simdoc_search.errors import CorpusError
from simdoc_search.small_files import read_small_file

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.stores.base import Store

_DEFAULT_SHINGLES = "words:5,words:3,words:2,words:1,words:1+frequencies,characters:9"
_MAX_PAIRS_FILE_BYTES = 16 << 20
_MAX_SHINGLE_SIZE_DIGITS = 4


@click.command(cls=Command, main_options=["--pairs", "--for"])
@click.argument("paths", nargs=-1, metavar="[FOLDER|STORE]...", shell_complete=complete_paths)
@click.option("--pairs", "pairs_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", required=True,
              help="File with pairs of documents, labelled yes or no. Each line has two ids and the label, separated "
              "by tabs.")  # fmt: skip
@click.option(
    "--for", "purpose", type=click.Choice(["duplicates", "versions", "related"]), default="duplicates",
    show_default=True, help="What the label yes means in --pairs: the documents are duplicates, versions or related.",
)  # fmt: skip
@click.option(
    "--shingles", metavar="UNIT:SIZE,...",
    help="With --for duplicates: kinds of shingles to compare, such as words:5, characters:9, words:3+stop:en+stem:en "
    f"or words:1+frequencies.  [default: those of the index, and {_DEFAULT_SHINGLES.replace(',', ', ')}]",
)  # fmt: skip
@index_options()
@json_option
def tune(
    paths: tuple[str, ...],
    pairs_file: Path,
    purpose: Literal["duplicates", "versions", "related"],
    shingles: str | None,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Learn thresholds from pairs of documents that you labelled.

    The command compares each pair, and finds the thresholds that separate the pairs labelled yes from the other pairs.
    For duplicates, this is the minimum overlap. The command also finds the shingles that separate the pairs best. It
    does not write any files.

    \b
      simdoc-search tune ./invoices --pairs judged.tsv
      simdoc-search tune ./.simdoc --pairs judged.tsv --for versions
      simdoc-search tune ./notes --pairs judged.tsv --shingles words:3,words:5
    """
    from simdoc_search import tuning
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.cli import tune_output

    paths = paths or (index.location,)
    pairs = tuning.read_pairs(_read_lines(pairs_file), str(pairs_file))
    in_store = len(paths) == 1 and _is_store(paths[0])
    if purpose == "duplicates":
        stored_analysis: Analysis | None = None
        ids = {id for pair in pairs for id in (pair.first_id, pair.second_id)}
        if in_store:
            with index._replace(location=paths[0]).open() as opened:
                texts = _read_store(opened, paths[0], ids)
                stored_analysis = opened.settings.analysis
        else:
            texts = _read_corpus(paths, ids)
        overlaps = tuning.learn_overlaps(texts, pairs, _choose_analyses(shingles, stored_analysis))
        folders = ("FOLDER",) if in_store else paths  # a store does not know which folders were indexed
        used_store = paths[0] if in_store else None
        commands = tune_output.overlap_commands(overlaps[0], used_store, stored_analysis or Analysis(), folders)
        show_overlaps = tune_output.overlaps_as_json if as_json else tune_output.overlap_lines
        result: Any = show_overlaps(overlaps, commands)
    else:
        if not in_store:
            raise click.UsageError(f"--for {purpose} needs an index; give STORE instead of a folder")
        learn = tuning.learn_version_thresholds if purpose == "versions" else tuning.learn_related_thresholds
        with index._replace(location=paths[0]).open() as opened:
            learned = learn(opened, pairs)
        show_thresholds = tune_output.thresholds_as_json if as_json else tune_output.thresholds_lines
        result = show_thresholds(learned, paths[0])
    if as_json:
        print_json(result)
    else:
        for line in result:
            say(line)


def _read_lines(path: Path) -> list[str]:
    try:
        return read_small_file(path, _MAX_PAIRS_FILE_BYTES).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CorpusError(f"{path} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror}") from None


def _is_store(path: str) -> bool:
    """Return whether a path is a store. A missing path counts as one, so that the error says how to create a store."""
    is_url = path.lower().startswith(("http://", "https://"))
    return is_url or not os.path.lexists(path) or (Path(path) / "simdoc.json").is_file()


def _read_store(store: Store, name: str, ids: Collection[str]) -> dict[str, str]:
    records = list(store.records(ids, load={"text"}))
    if any(record.text is None for record in records):
        raise CorpusError(f"cannot compute overlaps, because {name} does not store texts; give the folder of the files")
    return {record.id: record.text or "" for record in records}


def _read_corpus(paths: tuple[str, ...], ids: Collection[str]) -> dict[str, str]:
    from simdoc_search.corpus import read_corpus, read_sources
    from simdoc_search.documents import Document, SkippedFile
    from simdoc_search.indexing.run import FILE_TIMEOUT
    from simdoc_search.workers import ItemLimits, memory_per_worker

    limits = ItemLimits(FILE_TIMEOUT, memory_per_worker(os.cpu_count() or 1))
    sources = (source for source in read_corpus(paths, limits=limits) if not isinstance(source, SkippedFile))
    documents = read_sources((source for source in sources if source.id in ids), limits=limits)
    return {document.id: document.text for _, document in documents if isinstance(document, Document)}


def _choose_analyses(shingles: str | None, stored_analysis: Analysis | None) -> list[Analysis]:
    """Return the analysis settings to compare: those in `--shingles`, otherwise those of the index and the defaults."""
    names = (_DEFAULT_SHINGLES if shingles is None else shingles).split(",")
    stored = [stored_analysis] if stored_analysis and shingles is None else []
    return list(dict.fromkeys([*stored, *(_parse_shingles(name.strip()) for name in names)]))


def _parse_shingles(name: str) -> Analysis:
    """Parse one value of `--shingles`, such as words:3+stop:en+stem:en+frequencies."""
    from simdoc_search.analysis.settings import Analysis

    shingles, *parts = name.split("+")
    unit, _, size = shingles.partition(":")
    options = dict(part.partition(":")[::2] for part in parts)
    is_size = size.isascii() and size.isdecimal() and len(size) <= _MAX_SHINGLE_SIZE_DIGITS and int(size) > 0
    if unit not in {"words", "characters"} or not is_size or not options.keys() <= {"stop", "stem", "frequencies"}:
        advice = (
            "write `words:N` or `characters:N`, optionally followed by `+stop:LANGUAGE`, `+stem:LANGUAGE` or "
            "`+frequencies`"
        )
        raise click.BadParameter(f"cannot read the shingles {name!r:.60}; {advice}", param_hint="--shingles")
    words = word_settings(options.get("stop"), options.get("stem"), "frequencies" in options)
    word_options = {name: value for name, value in words.items() if value is not None}
    return Analysis(unit="word" if unit == "words" else "character", shingle_size=int(size), **word_options)
