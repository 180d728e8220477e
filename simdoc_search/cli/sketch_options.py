"""`--sketch`: what makes the tokens of a new store. `--with`: what an index is to have beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.base import Sketch
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings

_MOST_DIGITS = 10

NAMES: dict[str, KindName] = {"versions": "sentences", "relations": "concepts"}
"""What is asked for, and what an index must have for it."""

Command = TypeVar("Command", bound=Callable[..., Any])


def of_new_stores(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options that count where a store is made, as their help then says."""

    def add(command: Command) -> Command:
        others = [*getattr(command, "__click_params__", ())]
        for option in reversed(options):
            command = option(command)
        for each in getattr(command, "__click_params__", ()):
            if each not in others:
                each.help = f"New store: {each.help[0].lower()}{each.help[1:]}"
        return command

    return add


def analysis_options(command: Command) -> Command:
    """`--profile`, `--shingle-size` and `--unit`."""
    for option in (
        click.option("--unit", type=click.Choice(["word", "character"]),
                     help="Compare runs of words, or of characters."),
        click.option("--shingle-size", type=click.IntRange(min=1),
                     help="How long the runs are.  [default: 5]"),
        click.option("--profile", type=click.Choice(["nfkc_cf", "lowercase"]),
                     help="How words are compared."),
    ):  # fmt: skip
        command = option(command)
    return command


def word_options(command: Command) -> Command:
    """`--stop-words`, `--stem` and `--frequencies`: which words shingles are made of."""
    for option in (
        click.option("--frequencies", is_flag=True, default=None,
                     help="What a document repeats counts as often."),
        click.option("--stem", metavar="LANGUAGE|auto",
                     help="Compare the stems of words: en, de, fr, ..., or auto, as each text needs."),
        click.option("--stop-words", metavar="LANGUAGE|auto|FILE",
                     help="Leave out these words: those of a language (en, de, ...), auto, as each text "
                     "needs, or those of a file, which SIMDOC_STOP_WORDS must name for all later commands."),
    ):  # fmt: skip
        command = option(command)
    return command


def words_asked(stop_words: str | None, stem: str | None, frequencies: bool | None) -> dict[str, Any]:
    """What these options ask of the analysis.

    Raises:
        BadParameter: there is no stemmer of the language.
        StoreError: there are no stop words of the language, or the file cannot be read.
        MissingExtraError: what has them is not installed.
    """
    from simdoc_search.analysis.stemming import STEMMERS, stems
    from simdoc_search.analysis.stop_words import AUTO, StopWords
    from simdoc_search.languages import require_identifier

    asked: dict[str, Any] = {"frequencies": frequencies, "stem": stem}
    if stem is not None:
        if stem not in (AUTO, *STEMMERS):
            raise click.BadParameter(f"{stem!r:.60} is none of {AUTO}, {', '.join(STEMMERS)}", param_hint="--stem")
        stems([], "en" if stem == AUTO else stem)
    if stop_words is not None:
        is_language = stop_words == AUTO or (len(stop_words) == 2 and stop_words.isalpha())
        asked["stop_words"] = StopWords.of_language(stop_words) if is_language else StopWords.of_file(stop_words)
    if AUTO in (stem, stop_words):
        require_identifier()
    return asked


def sketch_option(command: Command) -> Command:
    """`--sketch`, a name with or without a size."""
    what = "What is kept of a text to compare it: minhash:512 (the default), scaled:8, universal:128, xor:200 "
    what += "or bottom_k:512, of this size or another one; simdoc-search tune measures them."
    return click.option("--sketch", metavar="NAME[:SIZE]", help=what)(command)


def sketch_named(named: str) -> Sketch:
    """The sketch that `--sketch` asks for.

    Raises:
        BadParameter: there is none of this name or size.
    """
    from simdoc_search.sketch.minhash import MinHash
    from simdoc_search.sketch.schemes import BottomK, Scaled, Universal, Xor

    kinds: dict[str, Callable[..., Sketch]] = {
        "minhash": lambda size=512: MinHash(bucket_count=size),
        "scaled": Scaled,
        "universal": Universal,
        "xor": Xor,
        "bottom_k": BottomK,
    }
    name, colon, size = named.partition(":")
    if name not in kinds or (colon and not (size.isascii() and size.isdecimal() and len(size) < _MOST_DIGITS)):
        like = f"one of {', '.join(kinds)}, with or without a size, like xor:400"
        raise click.BadParameter(f"{named!r:.60} is no sketch; give {like}", param_hint="--sketch")
    try:
        made = kinds[name](*([int(size)] if colon else []))
        made.check_tokens()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--sketch") from None
    return made


def with_sketch(settings: Settings, sketch: Sketch) -> Settings:
    """The settings with another sketch; five characters of a token tell the smallest hashes of long texts apart.

    Raises:
        MissingExtraError: what makes it is not installed.
    """
    from simdoc_search.sketch.fingerprint import fingerprint
    from simdoc_search.sketch.schemes import BottomK

    fingerprint("one word", None, sketch)
    length = 5 if isinstance(sketch, BottomK) else 4
    return replace(settings, minhash=sketch, token_length=length).with_key(settings.minhash.key)


def with_option(what: str) -> Callable[[Command], Command]:
    """`--with`, which gives the names of the kinds of tokens."""
    return click.option("--with", "kinds", multiple=True, callback=_kinds, metavar="versions,relations", help=what)


def synonyms_option(what: str) -> Callable[[Command], Command]:
    """`--synonyms`, which names a file."""
    return click.option("--synonyms", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=what)


def extractor_options(command: Command) -> Command:
    """`--concepts` and `--synonyms`, for a new store with concepts, and for each later run."""
    what = "With --with relations: what finds concepts: yake, names or spacy:MODEL.  [default: yake]"
    concepts = click.option("--concepts", metavar="NAME", help=what)
    said = "Words that count as others, in the format of Solr or WordNet; from then on for each run."
    return concepts(synonyms_option(said)(command))


def asked_extractor(concepts: str | None, synonyms: Path | None, there: Settings | None) -> Extractor | None:
    """What finds concepts as these two options have it; None: as the store that is there has it, or as is usual.

    Raises:
        BadParameter: there is no such extractor.
        ConceptsError: the synonyms, or a model of spaCy's, cannot be used.
        FormatMismatchError: the store has concepts of other synonyms.
        MissingExtraError: what finds them is not installed.
    """
    from simdoc_search.concepts import extractor_named, extractor_of, read_synonyms
    from simdoc_search.errors import FormatMismatchError

    if concepts is None and synonyms is None:
        return None
    read = read_synonyms(synonyms) if synonyms else None
    if concepts is None and there and there.concepts:
        return extractor_of(there.concepts, read)
    try:
        return extractor_named(concepts or "yake", read)
    except FormatMismatchError as error:
        raise click.BadParameter(str(error), param_hint="'--concepts'") from error


def with_kinds(settings: Settings, kinds: tuple[KindName, ...], extractor: Extractor | None = None) -> Settings:
    """The settings of an index that has these too.

    Args:
        settings: what else it has.
        kinds: what it has too.
        extractor: what finds its concepts; None: the usual one.
    """
    from simdoc_search.sketch.concepts import Concepts
    from simdoc_search.sketch.sentences import Sentences

    made: dict[str, Any] = {"sentences": Sentences(), "concepts": extractor.settings if extractor else Concepts()}
    return replace(settings, **{name: made[name] for name in kinds})


def left_out_options(command: Command) -> Command:
    """`--front-matter` and `--quoted-replies`."""
    for name, said in (
        ("quoted-replies", "Leave out of e-mails what they quote: lines with >, and On ... wrote:."),
        ("front-matter", "Leave front matter (YAML, TOML) out of Markdown; its keys are metadata."),
    ):
        option = click.option(f"--{name}", type=click.Choice(["keep", "skip"]), default="keep", help=said)
        command = option(command)
    return command


def left_out(front_matter: str, quoted_replies: str) -> tuple[str, ...]:
    """What these ask for, as `Settings` has it."""
    asked = {"front-matter": front_matter, "quoted-replies": quoted_replies}
    return tuple(part for part, said in asked.items() if said == "skip")


def check_has(settings: Settings, asked: Settings, store: str) -> None:
    """See whether a store that is there already has what is asked for: languages, all of each text.

    Raises:
        FormatMismatchError: it was made without.
    """
    from simdoc_search.errors import FormatMismatchError

    if asked.language and not settings.language:
        raise FormatMismatchError(
            f"the store {store} was made without languages; --language works only for a new store, which --store names"
        )
    if asked.left_out and asked.left_out != settings.left_out:
        has = " and ".join(f"--{part} skip" for part in settings.left_out) or "all of each text"
        raise FormatMismatchError(
            f"the store {store} was made with {has}, as it must stay; leave out --front-matter and --quoted-replies, "
            "or name a new store with --store"
        )


def _kinds(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[KindName, ...]:
    asked = [name.strip() for value in values for name in value.split(",")]
    for name in asked:
        if name not in NAMES:
            raise click.BadParameter(f"{name!r:.60} is none of {' and '.join(NAMES)}; give one of them, or both")
    return tuple(kind for name, kind in NAMES.items() if name in asked)
