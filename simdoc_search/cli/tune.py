"""`simdoc-search tune`: which settings fit these documents?"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from simdoc_search.cli.common import (
    errors_as_sentences,
    field_options,
    json_option,
    print_json,
    say,
    share_progress,
    store_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import overlap_options
from simdoc_search.cli.sketch_options import sketch_named, with_sketch, words_asked
from simdoc_search.cli.tune_limits import check_only_pairs, say_limits, store_of
from simdoc_search.errors import CorpusError, MissingExtraError
from simdoc_search.small_files import read_small

if TYPE_CHECKING:
    from collections.abc import Collection

    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.query.planner import Planner
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.tuning import LabelledPair

_SKETCHES = (
    "minhash:64,minhash:128,minhash:256,minhash:512,minhash:1024,minhash:2048,"
    "xor:64,xor:200,xor:512,bottom_k:128,bottom_k:512,scaled:16,scaled:8,scaled:4,universal:128"
)
_UNITS = {"words", "characters"}
_WORDS = {"stop", "stem", "frequencies"}
_MOST_DIGITS = 4
_READ_AT_ONCE = 50
_MAX_PAIRS_BYTES = 16 << 20

Texts = dict[str, str]


@click.command()
@click.argument("paths", nargs=-1, metavar="[FOLDER|STORE]...", shell_complete=complete_paths)
@overlap_options
@click.option(
    "--sketch", "sketches", metavar="NAME[:SIZE],...", help="Sketches to measure.  [default: all, in several sizes]"
)
@click.option(
    "--shingles", metavar="UNIT:SIZE,...",
    help="Shingles to measure: words:5, words:1, characters:9, words:3+stop:en+stem:en, words:1+frequencies.  "
    "[default: as in the store, or words:5; several with --pairs]",
)  # fmt: skip
@click.option("--pairs", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Learn from this file. Each line has two ids and yes or no, separated by tabs.")  # fmt: skip
@click.option(
    "--for",
    "what",
    type=click.Choice(["duplicates", "versions", "related"]),
    default="duplicates",
    show_default=True,
    help="What a yes in --pairs means: the two are duplicates, versions, or related documents.",
)
@click.option("--planted", "plant", is_flag=True, help="Add edited copies with about the wanted overlap.")
@click.option(
    "--sample", type=click.IntRange(min=2), default=1000, show_default=True, help="Number of documents to measure on."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of the random sample. The same seed draws the same documents.",
)
@field_options
@store_option
@json_option
@errors_as_sentences
def tune(
    paths: tuple[str, ...],
    overlap: Fraction | None,
    probability: Fraction | None,
    planner: Planner,
    sketches: str | None,
    shingles: str | None,
    pairs: Path | None,
    what: Literal["duplicates", "versions", "related"],
    plant: bool,
    sample: int,
    seed: int,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Measure settings on a sample of your own documents, and recommend some.

    Indexes the sample in memory, once with each sketch and size. Queries it, and compares the estimates and the hits
    with exact values. Writes no file.

    \b
      simdoc-search tune ./corpus --overlap 50 --probability 95
      simdoc-search tune ./.simdoc --sketch minhash:128,minhash:512
      simdoc-search tune ./invoices --pairs judged.tsv
      simdoc-search tune ./corpus --shingles words:3,words:5,characters:9

    With --pairs it learns the overlap from which you call two documents duplicates, and which shingles separate them
    best. With --for versions or related it learns the limits of these commands from the pairs.

    \b
      simdoc-search tune ./.simdoc --pairs judged.tsv --for versions
    """
    from simdoc_search.cli.tune_output import as_dict, lines
    from simdoc_search.tuning import read_pairs
    from simdoc_search.tuning.tune import tune as tuned

    if overlap == 0:
        raise click.BadParameter("0 is no overlap to tune for; give a percentage from 1", param_hint="--overlap")
    judged: list[LabelledPair] = read_pairs(_lines(pairs), str(pairs)) if pairs else []
    wanted = {id for each in judged for id in (each.a, each.b)}
    if not paths:
        paths = (store,)
    if what != "duplicates":
        check_only_pairs(what, pairs, {
            "--overlap": overlap is not None, "--probability": probability is not None, "--sketch": sketches,
            "--shingles": shingles, "--planted": plant,
        })  # fmt: skip
        if len(paths) == 1 and _is_store(paths[0]):
            with open_to_ask(paths[0], engine=engine, text_field=text_fields, field=field) as opened:
                say_limits(opened, judged, what, paths[0], as_json=as_json)
        else:
            texts, _ = _of_corpus(paths, sample, seed, wanted)
            with store_of(texts, what) as made:
                say_limits(made, judged, what, None, as_json=as_json)
        return
    texts, total, analysis = _texts(paths, sample, seed, wanted, engine, text_fields, field)
    settings, left_out = _settings(sketches, _analyses(shingles, analysis, several=bool(judged)))
    with share_progress(hidden=as_json) as update:
        found = tuned(
            texts, settings, overlap=overlap, probability=probability or Fraction(95, 100), planner=planner,
            judged=judged, plant=plant, seed=seed, progress=update,
        )  # fmt: skip
    place = ("FOLDER",) if analysis else paths  # a store does not say what it was made of
    if as_json:
        print_json(as_dict(found, total, seed, left_out, place))
        return
    for line in lines(found, total, place, left_out):
        say(line)


def _lines(path: Path) -> list[str]:
    try:
        return read_small(path, _MAX_PAIRS_BYTES).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CorpusError(f"{path} is not UTF-8; save the pairs as UTF-8") from None
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror}") from None


def _texts(
    paths: tuple[str, ...],
    sample: int,
    seed: int,
    wanted: Collection[str],
    engine: EngineKind | None,
    text_fields: tuple[str, ...],
    field: str | None,
) -> tuple[Texts, int, Analysis | None]:
    """The texts of a sample, of how many documents it is, and the analysis of the store if it is of one."""
    if len(paths) == 1 and _is_store(paths[0]):
        with open_to_ask(paths[0], engine=engine, text_field=text_fields, field=field) as opened:
            return _of_store(opened, paths[0], sample, seed, wanted)
    texts, total = _of_corpus(paths, sample, seed, wanted)
    return texts, total, None


def _is_store(path: str) -> bool:
    """Whether a path is a store; what is not there is one too, so that it is said how to make one."""
    if path.lower().startswith(("http://", "https://")):
        return True
    return not os.path.lexists(path) or (Path(path) / "simdoc.json").is_file()


def _of_store(
    opened: Store, name: str, sample: int, seed: int, wanted: Collection[str]
) -> tuple[Texts, int, Analysis | None]:
    from simdoc_search.tuning import drawn, fitting

    ids, total = drawn((each.id for each in opened.scan()), sample, seed, wanted)
    parts = (ids[at : at + _READ_AT_ONCE] for at in range(0, len(ids), _READ_AT_ONCE))
    read = ((each.id, each.text) for part in parts for each in opened.records(part, text=True))
    texts = fitting(((id, text) for id, text in read if text is not None), wanted)
    if ids and not texts:
        raise CorpusError(f"the store {name} has no texts, and exact values need them; name the folder instead")
    return texts, total, opened.settings.analysis


def _of_corpus(paths: tuple[str, ...], sample: int, seed: int, wanted: Collection[str]) -> tuple[Texts, int]:
    from simdoc_search.corpus import read_corpus, read_sources
    from simdoc_search.documents import Document, Skipped
    from simdoc_search.indexing import FILE_TIMEOUT
    from simdoc_search.tuning import drawn, fitting
    from simdoc_search.workers import ItemLimits, fair_memory

    limits = ItemLimits(FILE_TIMEOUT, fair_memory(os.cpu_count() or 1))
    sources = (each for each in read_corpus(paths, limits=limits) if not isinstance(each, Skipped))
    chosen, total = drawn(sources, sample, seed, wanted, lambda each: each.id)
    read = (each for _, each in read_sources(chosen, limits=limits))
    return fitting(((each.id, each.text) for each in read if isinstance(each, Document)), wanted), total


def _analyses(named: str | None, of_store: Analysis | None, *, several: bool) -> list[Analysis]:
    """What sets are made of, as `--shingles` has it."""
    from simdoc_search.analysis.settings import Analysis

    if named is None and not several:
        return [of_store or Analysis()]
    parts = [
        each.strip()
        for each in (named or "words:5,words:3,words:2,words:1,words:1+frequencies,characters:9").split(",")
    ]
    found = [_analysis(each) for each in parts]
    return list(dict.fromkeys([of_store, *found] if of_store and named is None else found))


def _analysis(named: str) -> Analysis:
    """What one of `--shingles` means: words:3+stop:en+stem:en+frequencies."""
    from simdoc_search.analysis.settings import Analysis

    shingles, *further = named.split("+")
    unit, _, size = shingles.partition(":")
    is_size = size.isascii() and size.isdecimal() and 0 < len(size) <= _MOST_DIGITS and int(size)
    asked = dict(each.partition(":")[::2] for each in further)
    if unit not in _UNITS or not is_size or not asked.keys() <= _WORDS or asked.get("frequencies"):
        like = "give words:N or characters:N, with +stop:LANGUAGE, +stem:LANGUAGE, +frequencies if you like"
        raise click.BadParameter(f"{named!r:.60} are no shingles; {like}", param_hint="--shingles")
    words = words_asked(asked.get("stop"), asked.get("stem"), "frequencies" in asked)
    chosen = {name: value for name, value in words.items() if value is not None}
    return Analysis(unit="word" if unit == "words" else "character", shingle_size=int(size), **chosen)


def _settings(sketches: str | None, analyses: list[Analysis]) -> tuple[list[Settings], list[str]]:
    """The settings to measure, and the sketches that are left out as nothing here makes them."""
    from simdoc_search.sketch.settings import Settings

    made, left_out = [], []
    for analysis in analyses:
        for named in dict.fromkeys(each.strip() for each in (sketches or _SKETCHES).split(",")):
            try:
                made.append(with_sketch(Settings(analysis=analysis), sketch_named(named)))
            except MissingExtraError:
                if sketches:
                    raise
                left_out.append(named)
    return made, list(dict.fromkeys(left_out))
