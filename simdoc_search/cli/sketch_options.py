"""`--with`: for commands that make an index or its mapping, or fill one, what it is to have beside fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings

__all__ = ["asked_extractor", "check_has", "extractor_options", "synonyms_option", "with_kinds", "with_option"]

NAMES: dict[str, KindName] = {"versions": "sentences", "relations": "concepts"}
"""What is asked for, and what an index must have for it."""

Command = TypeVar("Command", bound=Callable[..., Any])


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


def with_kinds(
    settings: Settings, kinds: tuple[KindName, ...], place: str, extractor: Extractor | None = None
) -> Settings:
    """The settings of an index, which is to be made in a place, that has these too.

    Args:
        settings: what else it has.
        kinds: what it has too.
        place: what a person calls it.
        extractor: what finds its concepts; None: the usual one.

    Raises:
        MissingExtraError: what makes them is not installed.
    """
    from simdoc_search.sketch.concepts import Concepts
    from simdoc_search.sketch.sentences import Sentences
    from simdoc_search.stores.sketching import check_can_sketch, extractor_for

    made: dict[str, Any] = {"sentences": Sentences(), "concepts": extractor.settings if extractor else Concepts()}
    asked = replace(settings, **{name: made[name] for name in kinds})
    check_can_sketch(asked, extractor_for(asked, extractor), place)
    return asked


def check_has(settings: Settings, kinds: tuple[KindName, ...], store: str) -> None:
    """See whether a store that is there already has what is asked for.

    Raises:
        FormatMismatchError: it was made without.
    """
    from simdoc_search.errors import FormatMismatchError
    from simdoc_search.sketch.kinds import KINDS

    for kind in map(KINDS.__getitem__, kinds):
        if getattr(settings, kind.name) is None:
            how = f"index again into another store {kind.indexed}"
            raise FormatMismatchError(f"the store {store} was made without {kind.shown}; {how}")


def _kinds(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[KindName, ...]:
    asked = [name.strip() for value in values for name in value.split(",")]
    for name in asked:
        if name not in NAMES:
            raise click.BadParameter(f"{name!r:.60} is none of {' and '.join(NAMES)}; give one of them, or both")
    return tuple(kind for name, kind in NAMES.items() if name in asked)
