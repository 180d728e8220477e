"""Options for the settings of an index: analysis, `--sketch`, and `--with` and its extractor of concepts."""

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

KINDS: dict[str, KindName] = {"versions": "sentences", "relations": "concepts"}
"""The values of `--with`, and the kinds of tokens that they add."""

_MAX_DIGITS = 9

Command = TypeVar("Command", bound=Callable[..., Any])


def for_new_stores(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Begin the help of these options with "New store:", because they apply only when a store is made."""

    def add(command: Command) -> Command:
        others = [*getattr(command, "__click_params__", ())]
        for option in reversed(options):
            command = option(command)
        for parameter in getattr(command, "__click_params__", ()):
            if parameter not in others:
                parameter.help = f"New store: {parameter.help[0].lower()}{parameter.help[1:]}"
        return command

    return add


def analysis_options(command: Command) -> Command:
    """`--profile`, `--shingle-size` and `--unit`."""
    for option in (
        click.option("--unit", type=click.Choice(["word", "character"]),
                     help="Compare runs of words, or of characters."),
        click.option("--shingle-size", type=click.IntRange(min=1),
                     help="Length of the runs.  [default: 5]"),
        click.option("--profile", type=click.Choice(["nfkc_cf", "lowercase"]),
                     help="Normalisation of words."),
    ):  # fmt: skip
        command = option(command)
    return command


def word_options(command: Command) -> Command:
    """`--stop-words`, `--stem` and `--frequencies`."""
    for option in (
        click.option("--frequencies", is_flag=True, default=None,
                     help="Count a run as often as it occurs."),
        click.option("--stem", metavar="LANGUAGE|auto",
                     help="Compare the stems of words: en, de, fr, ..., or auto for the language of each text."),
        click.option("--stop-words", metavar="LANGUAGE|auto|FILE",
                     help="Remove stop words: those of a language (en, de, ...), auto for the language of each text, "
                     "or those of a file. Name the file in SIMDOC_STOP_WORDS for all later commands."),
    ):  # fmt: skip
        command = option(command)
    return command


def word_settings(stop_words: str | None, stem: str | None, frequencies: bool | None) -> dict[str, Any]:
    """Return the settings of `Analysis` from these options; None for an option that was not given.

    Raises:
        BadParameter: there is no stemmer for the language.
        StoreError: there are no stop words for the language, or the file cannot be read.
        MissingExtraError: a package for stop words, stems or languages is not installed.
    """
    from simdoc_search.analysis.stemming import STEMMERS, stems
    from simdoc_search.analysis.stop_words import AUTO, StopWords
    from simdoc_search.languages import require_identifier

    settings: dict[str, Any] = {"frequencies": frequencies, "stem": stem}
    if stem is not None:
        if stem not in (AUTO, *STEMMERS):
            languages = f"{AUTO}, {', '.join(STEMMERS)}"
            raise click.BadParameter(f"no stemmer for {stem!r:.60}; give one of {languages}", param_hint="--stem")
        stems([], "en" if stem == AUTO else stem)
    if stop_words is not None:
        is_language = stop_words == AUTO or (len(stop_words) == 2 and stop_words.isalpha())
        settings["stop_words"] = StopWords.of_language(stop_words) if is_language else StopWords.of_file(stop_words)
    if AUTO in (stem, stop_words):
        require_identifier()
    return settings


sketch_option = click.option(
    "--sketch",
    metavar="NAME[:SIZE]",
    help="The sketch that stands for a text: minhash:512 (the default), universal:128 or xor:200, of this or another "
    "size. simdoc-search tune measures them.",
)


def parse_sketch(text: str) -> Sketch:
    """Return the sketch of `--sketch`.

    Raises:
        BadParameter: the name or the size is unknown.
    """
    from simdoc_search.sketch.schemes import SCHEMES

    kinds = {kind.name: kind for kind in SCHEMES.values()}
    name, colon, size = text.partition(":")
    if name not in kinds or (colon and not (size.isascii() and size.isdecimal() and len(size) <= _MAX_DIGITS)):
        choices = f"give one of {', '.join(kinds)}, with or without a size, like xor:400"
        raise click.BadParameter(f"{text!r:.60} is not a sketch; {choices}", param_hint="--sketch")
    kind: Callable[..., Sketch] = kinds[name]
    try:
        sketch = kind(**({kinds[name].stored_fields[0]: int(size)} if colon else {}))
        sketch.check_tokens()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--sketch") from None
    return sketch


def with_sketch(settings: Settings, sketch: Sketch) -> Settings:
    """Return the settings with another sketch.

    Raises:
        MissingExtraError: a package that computes it is not installed.
    """
    from simdoc_search.sketch.fingerprint import fingerprint

    fingerprint("one word", None, sketch)
    return replace(settings, minhash=sketch).with_key(settings.minhash.key)


def kinds_option(help: str) -> Callable[[Command], Command]:  # noqa: A002 - as in click
    """`--with`, the kinds of tokens."""
    return click.option("--with", "kinds", multiple=True, callback=_kinds, metavar="versions,relations", help=help)


def synonyms_option(help: str) -> Callable[[Command], Command]:  # noqa: A002 - as in click
    """`--synonyms`, a file."""
    return click.option("--synonyms", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=help)


def extractor_options(command: Command) -> Command:
    """`--concepts` and `--synonyms`, for a new store with concepts, and for each later run."""
    concepts = click.option(
        "--concepts",
        metavar="NAME",
        help="With --with relations: the extractor of concepts: yake, names or spacy:MODEL.  [default: yake]",
    )
    return concepts(synonyms_option("Synonyms, in the format of Solr. Give them again in each later run.")(command))


def chosen_extractor(concepts: str | None, synonyms: Path | None, stored: Settings | None) -> Extractor | None:
    """Return the extractor of `--concepts` and `--synonyms`; None for that of the existing store, or the default.

    Raises:
        BadParameter: there is no such extractor.
        ConceptsError: the synonyms, or a model of spaCy, cannot be used.
        FormatMismatchError: the store has concepts with other synonyms.
        MissingExtraError: a package that the extractor needs is not installed.
    """
    from simdoc_search.concepts import extractor_named, extractor_of_settings, read_synonyms
    from simdoc_search.errors import FormatMismatchError

    if concepts is None and synonyms is None:
        return None
    read = read_synonyms(synonyms) if synonyms else None
    if concepts is None and stored and stored.concepts:
        return extractor_of_settings(stored.concepts, read)
    try:
        return extractor_named(concepts or "yake", read)
    except FormatMismatchError as error:
        raise click.BadParameter(str(error), param_hint="'--concepts'") from error


def with_kinds(settings: Settings, kinds: tuple[KindName, ...], extractor: Extractor | None = None) -> Settings:
    """Return the settings with these kinds of tokens added; `extractor` None: the default extractor of concepts."""
    from simdoc_search.sketch.concepts import Concepts
    from simdoc_search.sketch.sentences import Sentences

    added: dict[str, Any] = {"sentences": Sentences(), "concepts": extractor.settings if extractor else Concepts()}
    return replace(settings, **{name: added[name] for name in kinds})


def left_out_options(command: Command) -> Command:
    """`--front-matter` and `--quoted-replies`."""
    for name, text in (
        ("quoted-replies", "Skip the quoted text of e-mails: lines with >, and On ... wrote:."),
        ("front-matter", "Skip the front matter (YAML, TOML) of Markdown; its keys become metadata."),
    ):
        command = click.option(f"--{name}", type=click.Choice(["keep", "skip"]), default="keep", help=text)(command)
    return command


def skipped_parts(front_matter: str, quoted_replies: str) -> tuple[str, ...]:
    """Return `Settings.left_out` of these options."""
    values = {"front-matter": front_matter, "quoted-replies": quoted_replies}
    return tuple(part for part, value in values.items() if value == "skip")


def check_store_has(stored: Settings, wanted: Settings, store: str) -> None:
    """Check that an existing store identifies languages and skips parts as the options say.

    Raises:
        FormatMismatchError: it does not.
    """
    from simdoc_search.errors import FormatMismatchError

    if wanted.language and not stored.language:
        raise FormatMismatchError(
            f"the store {store} was made without languages; make a new store for --language, and name it with --store"
        )
    if wanted.left_out and wanted.left_out != stored.left_out:
        options = " and ".join(f"--{part} skip" for part in stored.left_out) or "all of each text"
        raise FormatMismatchError(
            f"the store {store} was made with {options}, and cannot change; leave out --front-matter and "
            "--quoted-replies, or name a new store with --store"
        )


def _kinds(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[KindName, ...]:
    names = [name.strip() for value in values for name in value.split(",")]
    for name in names:
        if name not in KINDS:
            raise click.BadParameter(f"{name!r:.60} is unknown; give versions, relations, or both")
    return tuple(kind for name, kind in KINDS.items() if name in names)
