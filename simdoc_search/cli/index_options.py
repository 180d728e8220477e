"""Options for the settings of an index: analysis, `--sketch`, `--with`, and the extractor of concepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from simdoc_search.cli.common import Decorator, add_options

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.base import Sketch
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.sketch.token_kinds import TokenKindName

TOKEN_KIND_BY_OPTION_VALUE: dict[str, TokenKindName] = {"versions": "sentences", "related": "concepts"}
"""Maps each value of `--with` to the kind of data that it adds to the index."""

_MAX_SKETCH_SIZE_DIGITS = 9


def for_new_stores(*options: Decorator) -> Decorator:
    """Begin the help of these options with "New index:", because they only apply when an index is created."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        other_parameters = [*getattr(command, "__click_params__", ())]
        command = add_options(*options)(command)
        for parameter in getattr(command, "__click_params__", ()):
            if parameter not in other_parameters:
                parameter.help = f"New index: {parameter.help[0].lower()}{parameter.help[1:]}"
        return command

    return add


analysis_options: Final = add_options(
    click.option("--profile", type=click.Choice(["nfkc_cf", "lowercase"]),
                 help="How to normalise words. `nfkc_cf` applies Unicode NFKC and case folding. `lowercase` only "
                 "converts to lower case.  [default: nfkc_cf]"),
    click.option("--shingle-size", type=click.IntRange(min=1),
                 help="Number of words or characters in each compared sequence.  [default: 5]"),
    click.option("--unit", type=click.Choice(["word", "character"]),
                 help="Compare sequences of words, or sequences of characters.  [default: word]"),
)  # fmt: skip

word_options: Final = add_options(
    click.option("--stop-words", metavar="LANGUAGE|auto|FILE",
                 help="Remove the stop words of this language (en, de, ...), or those in this file. `auto` "
                 "identifies the language of each text. If you use a file, also set SIMDOC_STOP_WORDS to "
                 "its path before you run other commands."),
    click.option("--stem", metavar="LANGUAGE|auto",
                 help="Compare the stems of words in this language (en, de, fr, ...). `auto` identifies the "
                 "language of each text."),
    click.option("--frequencies", is_flag=True, default=None,
                 help="Count every occurrence of a repeated sequence of words, not just the first."),
)  # fmt: skip


def word_settings(stop_words: str | None, stem: str | None, frequencies: bool | None) -> dict[str, Any]:
    """Return the settings of `Analysis` that these options set. A setting is None if its option was not given."""
    from simdoc_search.analysis.stemming import STEMMERS, stems
    from simdoc_search.analysis.stop_words import AUTO, StopWords
    from simdoc_search.languages import require_language_model

    settings: dict[str, Any] = {"frequencies": frequencies, "stem": stem}
    if stem is not None:
        if stem not in (AUTO, *STEMMERS):
            languages = f"{AUTO}, {', '.join(STEMMERS)}"
            raise click.BadParameter(
                f"no stemmer for the language {stem!r:.60}; give one of {languages}", param_hint="--stem"
            )
        stems([], "en" if stem == AUTO else stem)
    if stop_words is not None:
        is_language = stop_words == AUTO or (len(stop_words) == 2 and stop_words.isalpha())
        settings["stop_words"] = StopWords.from_language(stop_words) if is_language else StopWords.from_file(stop_words)
    if AUTO in (stem, stop_words):
        require_language_model()
    return settings


sketch_option: Final = click.option(
    "--sketch",
    metavar="NAME[:SIZE]",
    help="Kind and size of the fingerprints, such as minhash:512, universal:128 or xor:200. Four times the size "
    "halves the error of an estimate.  [default: minhash:512]",
)


def parse_sketch(text: str) -> Sketch:
    """Return the sketch that a value of `--sketch` describes."""
    from simdoc_search.sketch.sketches import SKETCHES

    sketches = {kind.name: kind for kind in SKETCHES.values()}
    name, colon, size = text.partition(":")
    if name not in sketches or (
        colon and not (size.isascii() and size.isdecimal() and len(size) <= _MAX_SKETCH_SIZE_DIGITS)
    ):
        choices = f"give one of {', '.join(sketches)}, optionally with a size, like xor:400"
        raise click.BadParameter(f"{text!r:.60} is not a sketch; {choices}", param_hint="--sketch")
    kind: Callable[..., Sketch] = sketches[name]
    try:
        sketch = kind(**({sketches[name].parameter_names[0]: int(size)} if colon else {}))
        sketch.require_bucketed_tokens()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--sketch") from None
    return sketch


def with_sketch(settings: Settings, sketch: Sketch) -> Settings:
    """Return the settings with this sketch."""
    from simdoc_search.sketch.fingerprint import fingerprint

    fingerprint("one word", None, sketch)
    return replace(settings, sketch=sketch).with_key(settings.sketch.key)


def token_kinds_option(help: str) -> Decorator:  # noqa: A002 - click uses the same name
    """Return the option `--with` with this help text. Its value is a tuple of kinds of tokens."""
    return click.option(
        "--with", "token_kinds", multiple=True, callback=_parse_token_kinds, metavar="versions,related", help=help
    )


def synonyms_option(help: str) -> Decorator:  # noqa: A002 - click uses the same name
    """Return the option `--synonyms` with this help text."""
    return click.option("--synonyms", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=help)


extractor_options: Final = add_options(
    click.option(
        "--extractor",
        "extractor_name",
        metavar="NAME",
        help="With --with related: how to extract concepts: keywords, names or spacy:MODEL.  [default: keywords]",
    ),
    synonyms_option("File with synonyms in Solr's format. Give the file again each time you index."),
)
"""`--extractor` is for a new store with concepts. Each later run needs `--synonyms` too."""


def make_extractor(name: str | None, synonyms: Path | None, stored: Settings | None) -> Extractor | None:
    """Return the extractor of `--extractor` and `--synonyms`; None for the extractor of the store or the default."""
    from simdoc_search.concepts import extractor_from_option, extractor_from_settings, read_synonyms
    from simdoc_search.errors import FormatMismatchError
    from simdoc_search.sketch.concepts import ConceptSettings

    if name is None and synonyms is None:
        return None
    synonym_map = read_synonyms(synonyms) if synonyms else None
    if name is None and stored and stored.concepts:
        return extractor_from_settings(stored.concepts, synonym_map)
    try:
        return extractor_from_option(name or ConceptSettings().extractor, synonym_map)
    except FormatMismatchError as error:
        raise click.BadParameter(str(error), param_hint="'--extractor'") from error


def with_token_kinds(
    settings: Settings, token_kinds: tuple[TokenKindName, ...], extractor: Extractor | None = None
) -> Settings:
    """Return the settings with these kinds of tokens added. Without an `extractor`, the default one is used."""
    from simdoc_search.sketch.concepts import ConceptSettings
    from simdoc_search.sketch.sentences import SentenceSettings

    added: dict[str, Any] = {
        "sentences": SentenceSettings(),
        "concepts": extractor.settings if extractor else ConceptSettings(),
    }
    return replace(settings, **{name: added[name] for name in token_kinds})


excluded_part_options: Final = add_options(
    click.option("--front-matter", type=click.Choice(["keep", "skip"]), default="keep", show_default=True,
                 help="Whether the front matter (YAML, TOML) of Markdown files is part of the text. With `skip`, its "
                 "fields become metadata."),
    click.option("--quoted-replies", type=click.Choice(["keep", "skip"]), default="keep", show_default=True,
                 help="Whether to skip quoted text in e-mails: lines that begin with >, and lines such as "
                 "'On ... wrote:'."),
)  # fmt: skip


def choose_excluded_parts(front_matter: str, quoted_replies: str) -> tuple[str, ...]:
    """Return the value of `Settings.excluded_parts` that these options set."""
    values = {"front-matter": front_matter, "quoted-replies": quoted_replies}
    return tuple(part for part, value in values.items() if value == "skip")


def check_stored_settings(stored: Settings, requested: Settings, store: str) -> None:
    """Check that an existing store has the settings of `--language`, `--front-matter` and `--quoted-replies`."""
    from simdoc_search.errors import FormatMismatchError

    if requested.identifies_language and not stored.identifies_language:
        raise FormatMismatchError(f"the index {store} was created without --language; choose a new index with --store")
    if requested.excluded_parts and requested.excluded_parts != stored.excluded_parts:
        parts = ("front-matter", "quoted-replies")
        options = " and ".join(f"--{part} {'skip' if part in stored.excluded_parts else 'keep'}" for part in parts)
        raise FormatMismatchError(
            f"the index {store} was created with {options}, which cannot be changed; omit --front-matter and "
            "--quoted-replies, or choose a new index with --store"
        )


def _parse_token_kinds(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[TokenKindName, ...]:
    names = [name.strip() for value in values for name in value.split(",")]
    for name in names:
        if name not in TOKEN_KIND_BY_OPTION_VALUE:
            raise click.BadParameter(f"{name!r:.60} is not a value of --with; give versions, related or both")
    return tuple(kind for name, kind in TOKEN_KIND_BY_OPTION_VALUE.items() if name in names)
