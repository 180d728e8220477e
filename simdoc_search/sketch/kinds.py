"""The kinds of tokens that an index may have beside those of fingerprints: how they are written, how it gets them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from simdoc_search.sketch.concepts import CONCEPT_LENGTH
from simdoc_search.sketch.sentences import SENTENCE_LENGTH
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PASSAGE_LENGTH

KindName = Literal["passages", "sentences", "concepts"]
"""As the settings, the records and the fields of an index call them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tokens.

    Attributes:
        name: what settings, records and fields call it.
        length: characters of a token, of 6 bits each.
        is_set: whether a document's tokens are a set, ascending; else they stand in order, each as often as it has it.
        shown: what people call them.
        indexed: the option of `simdoc-search index` that adds them to a store; empty: a store has them from the start.
        backfilled: that of `simdoc-search backfill`.
    """

    name: KindName
    length: int
    is_set: bool
    shown: str
    indexed: str
    backfilled: str

    def how(self, location: str) -> str:
        """How a store of `simdoc-search index` gets them."""
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
"""All of them, in the order in which they are stored."""


def names_of_kinds(settings: Settings) -> list[KindName]:
    """The names of those that an index of these settings has."""
    return [each.name for each in kinds_of(settings)]


def kinds_of(settings: Settings) -> list[Kind]:
    """Those that an index of these settings has."""
    return [each for each in KINDS.values() if getattr(settings, each.name) is not None]
