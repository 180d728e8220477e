"""`simdoc-search tune`: measures settings on your documents, or learns thresholds from labelled pairs."""

from __future__ import annotations

import os
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from simdoc_search.cli.common import (
    field_options,
    handle_errors,
    json_option,
    open_for_query,
    print_json,
    say,
    stage_progress,
    store_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_options import parse_sketch, with_sketch, word_settings
from simdoc_search.cli.query_options import percent_type
from simdoc_search.errors import CorpusError
from simdoc_search.small_files import read_small_file

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

_DEFAULT_SKETCHES = "minhash:64,minhash:128,minhash:256,minhash:512,minhash:1024,minhash:2048,xor:64,xor:200,xor:512"
_DEFAULT_SHINGLES_FOR_PAIRS = "words:5,words:3,words:2,words:1,words:1+frequencies,characters:9"
_BATCH_SIZE = 50
_MAX_PAIRS_FILE_BYTES = 16 << 20
_MAX_SHINGLE_SIZE_DIGITS = 4


@click.command(cls=Command, main_options=["--overlap", "--probability", "--sketch", "--pairs", "--for"])
@click.argument("paths", nargs=-1, metavar="[FOLDER|STORE]...", shell_complete=complete_paths)
@click.option(
    "--overlap", type=percent_type, metavar="PERCENT",
    help="Minimum overlap of the documents that you want to find.  [default: learned from --pairs, or 50]",
)  # fmt: skip
@click.option(
    "--probability", type=percent_type, metavar="PERCENT", default="95", show_default=True,
    help="Minimum probability of finding a document whose overlap equals `--overlap`. "
    "A document with a larger overlap is found with a higher probability.",
)  # fmt: skip
@click.option(
    "--sketch",
    "sketches",
    metavar="NAME[:SIZE],...",
    default=_DEFAULT_SKETCHES,
    help="Kinds and sizes of fingerprints to measure.  [default: all kinds, in several sizes]",
)
@click.option(
    "--shingles", metavar="UNIT:SIZE,...",
    help="Kinds of shingles to measure, such as words:5, characters:9, words:3+stop:en+stem:en or words:1+frequencies. "
    " [default: those of the index, or words:5. With --pairs: several kinds]",
)  # fmt: skip
@click.option("--pairs", "pairs_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="File with pairs of documents, labelled yes or no. Each line has two ids and the label, separated "
              "by tabs.")  # fmt: skip
@click.option(
    "--for", "purpose", type=click.Choice(["duplicates", "versions", "related"]), default="duplicates",
    show_default=True, help="What the label yes means in --pairs: the documents are duplicates, versions or related.",
)  # fmt: skip
@click.option(
    "--sample",
    "sample_size",
    type=click.IntRange(min=2),
    default=1000,
    show_default=True,
    help="Number of documents in the sample.",
)
@field_options
@store_option
@json_option
@handle_errors
def tune(
    paths: tuple[str, ...],
    overlap: Fraction | None,
    probability: Fraction,
    sketches: str,
    shingles: str | None,
    pairs_file: Path | None,
    purpose: Literal["duplicates", "versions", "related"],
    sample_size: int,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Compare settings on your documents, and recommend the best.

    The command indexes a sample in memory, once for each kind and size of fingerprint. It queries each index, and
    compares the estimates and the hits with exact values. It does not write any files.

    \b
      simdoc-search tune ./corpus --overlap 50 --probability 95
      simdoc-search tune ./.simdoc --sketch minhash:128,minhash:512
      simdoc-search tune ./invoices --pairs judged.tsv
      simdoc-search tune ./corpus --shingles words:3,words:5,characters:9

    With --pairs, the command learns the minimum overlap from your labelled pairs. It also finds the shingles that best
    separate the pairs labelled yes from the other pairs. With --for versions or --for related, it learns the thresholds
    that the command `versions` or `related` uses for an index.

    \b
      simdoc-search tune ./.simdoc --pairs judged.tsv --for versions
    """
    from simdoc_search import tuning
    from simdoc_search.cli import tune_output
    from simdoc_search.sketch.settings import Settings

    if overlap == 0:
        raise click.BadParameter("the overlap must be greater than 0", param_hint="--overlap")
    paths = paths or (store,)
    pairs = tuning.read_pairs(_read_lines(pairs_file), str(pairs_file)) if pairs_file else []
    in_store = len(paths) == 1 and _is_store(paths[0])
    open_options: dict[str, Any] = {"engine": engine, "text_field": text_fields, "field": field}
    if purpose != "duplicates":
        if not pairs or not in_store:
            raise click.UsageError(f"--for {purpose} needs an index and labelled pairs; give STORE and --pairs FILE")
        learn = tuning.learn_version_thresholds if purpose == "versions" else tuning.learn_related_thresholds
        with open_for_query(paths[0], **open_options) as opened:
            learned = learn(opened, pairs)
        if as_json:
            print_json(tune_output.thresholds_as_json(learned, paths[0]))
        else:
            for line in tune_output.thresholds_lines(learned, paths[0]):
                say(line)
        return
    required_ids = {id for pair in pairs for id in (pair.first_id, pair.second_id)}
    if in_store:
        with open_for_query(paths[0], **open_options) as opened:
            texts, total_count = _sample_store(opened, paths[0], sample_size, required_ids)
            analysis: Analysis | None = opened.settings.analysis
        paths = ("FOLDER",)  # a placeholder, because a store does not know which folders were indexed
    else:
        (texts, total_count), analysis = _sample_corpus(paths, sample_size, required_ids), None
    analyses = _choose_analyses(shingles, analysis, for_pairs=bool(pairs))
    names = dict.fromkeys(name.strip() for name in sketches.split(","))
    settings = [with_sketch(Settings(analysis=analysis), parse_sketch(name)) for analysis in analyses for name in names]
    with stage_progress(hidden=as_json) as update:
        result = tuning.tune(texts, settings, overlap=overlap, probability=probability, pairs=pairs, progress=update)
    if as_json:
        print_json(tune_output.tuning_as_json(result, total_count, paths))
    else:
        for line in tune_output.tuning_lines(result, total_count, paths):
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


def _sample_store(
    store: Store, name: str, sample_size: int, required_ids: Collection[str]
) -> tuple[dict[str, str], int]:
    from simdoc_search.tuning import draw_sample, limit_texts

    ids, total_count = draw_sample((record.id for record in store.scan()), sample_size, required_ids)
    batches = (ids[start : start + _BATCH_SIZE] for start in range(0, len(ids), _BATCH_SIZE))
    records = (record for batch in batches for record in store.records(batch, with_text=True))
    texts = limit_texts(((record.id, record.text) for record in records if record.text is not None), required_ids)
    if ids and not texts:
        raise CorpusError(
            f"cannot compute exact overlaps, because {name} does not store texts; give the folder of the files"
        )
    return texts, total_count


def _sample_corpus(
    paths: tuple[str, ...], sample_size: int, required_ids: Collection[str]
) -> tuple[dict[str, str], int]:
    from simdoc_search.corpus import read_corpus, read_sources
    from simdoc_search.documents import Document, SkippedFile
    from simdoc_search.indexing import FILE_TIMEOUT
    from simdoc_search.tuning import draw_sample, limit_texts
    from simdoc_search.workers import ItemLimits, memory_per_worker

    limits = ItemLimits(FILE_TIMEOUT, memory_per_worker(os.cpu_count() or 1))
    sources = (source for source in read_corpus(paths, limits=limits) if not isinstance(source, SkippedFile))
    sampled, total_count = draw_sample(sources, sample_size, required_ids, lambda source: source.id)
    documents = (document for _, document in read_sources(sampled, limits=limits))
    texts = ((document.id, document.text) for document in documents if isinstance(document, Document))
    return limit_texts(texts, required_ids), total_count


def _choose_analyses(shingles: str | None, stored_analysis: Analysis | None, *, for_pairs: bool) -> list[Analysis]:
    """Return the analysis settings to measure: those in `--shingles`, otherwise those of the index or the defaults."""
    from simdoc_search.analysis.settings import Analysis

    if shingles is not None:
        return list(dict.fromkeys(_parse_shingles(name.strip()) for name in shingles.split(",")))
    defaults = [_parse_shingles(name) for name in _DEFAULT_SHINGLES_FOR_PAIRS.split(",")] if for_pairs else [Analysis()]
    return list(dict.fromkeys([stored_analysis, *(defaults if for_pairs else ())] if stored_analysis else defaults))


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
