"""The kinds of tokens that an index may have besides fingerprints."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from simdoc_search.sketch.concepts import CONCEPT_LENGTH
from simdoc_search.sketch.sentences import SENTENCE_LENGTH
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PASSAGE_LENGTH

KindName = Literal["passages", "sentences", "concepts"]
"""The names in settings, records and fields."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tokens.

    Attributes:
        name: the name in settings, records and fields.
        length: characters of a token, 6 bits each.
        is_set: whether a document's tokens are a set, ascending; otherwise they are in order, with repeats.
        shown: the name in messages.
        indexed: the option of `simdoc-search index` that adds them; empty if every new store has them.
        backfilled: the option of `simdoc-search backfill`.
    """

    name: KindName
    length: int
    is_set: bool
    shown: str
    indexed: str
    backfilled: str

    def how(self, location: str) -> str:
        """How to add them to a store of `simdoc-search index`."""
        if not self.indexed:
            return "index its documents again into a new store"
        if location == ":memory:":
            return "name them in the settings that you open it with"
        return f"add them with: {shlex.join(['simdoc-search', 'index', *self.indexed.split(), '--store', location])}"


KINDS: dict[KindName, Kind] = {
    "passages": Kind("passages", PASSAGE_LENGTH, True, "passages", "", "--passages"),
    "sentences": Kind("sentences", SENTENCE_LENGTH, False, "sentences", "--with versions", "--with versions"),
    "concepts": Kind("concepts", CONCEPT_LENGTH, False, "concepts", "--with relations", "--with relations"),
}
"""All kinds, in the order in which they are stored."""


def names_of_kinds(settings: Settings) -> list[KindName]:
    """Return the names of the kinds in an index with these settings."""
    return [each.name for each in kinds_of(settings)]


def kinds_of(settings: Settings) -> list[Kind]:
    """Return the kinds in an index with these settings."""
    return [each for each in KINDS.values() if getattr(settings, each.name) is not None]
