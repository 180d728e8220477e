"""`--with`: for commands that make an index or its mapping, or fill one, what it is to have beside fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings

__all__ = ["check_has", "with_kinds", "with_option"]

NAMES: dict[str, KindName] = {"versions": "sentences", "relations": "concepts"}
"""What is asked for, and what an index must have for it."""

Command = TypeVar("Command", bound=Callable[..., Any])


def with_option(what: str) -> Callable[[Command], Command]:
    """`--with`, which gives the names of the kinds of tokens."""
    return click.option("--with", "kinds", multiple=True, callback=_kinds, metavar="versions,relations", help=what)


def with_kinds(settings: Settings, kinds: tuple[KindName, ...]) -> Settings:
    """The settings of an index that has these too."""
    from simdoc_search.sketch.concepts import Concepts
    from simdoc_search.sketch.sentences import Sentences

    made: dict[str, Any] = {"sentences": Sentences(), "concepts": Concepts()}
    return replace(settings, **{name: getattr(settings, name) or made[name] for name in kinds})


def check_has(settings: Settings, asked: Settings, store: str) -> None:
    """See whether a store that is there already has what is asked for: sentences, concepts, languages.

    Raises:
        FormatMismatchError: it was made without.
    """
    from simdoc_search.errors import FormatMismatchError
    from simdoc_search.sketch.kinds import KINDS

    options = {KINDS[name].shown: (name, KINDS[name].indexed) for name in NAMES.values()}
    for shown, (name, option) in (options | {"languages": ("language", "with --language")}).items():
        if getattr(asked, name) and not getattr(settings, name):
            how = f"index again into another store {option}"
            raise FormatMismatchError(f"the store {store} was made without {shown}; {how}")


def _kinds(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[KindName, ...]:
    asked = [name.strip() for value in values for name in value.split(",")]
    for name in asked:
        if name not in NAMES:
            raise click.BadParameter(f"{name!r:.60} is none of {' and '.join(NAMES)}; give one of them, or both")
    return tuple(kind for name, kind in NAMES.items() if name in asked)
