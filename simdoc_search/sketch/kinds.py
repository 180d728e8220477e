"""Defines the optional kinds of tokens of an index: passages, sentences and concepts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from simdoc_search.sketch.concepts import CONCEPT_LENGTH
from simdoc_search.sketch.sentences import SENTENCE_LENGTH
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PASSAGE_LENGTH

KindName = Literal["passages", "sentences", "concepts"]
"""The name of a kind in settings, records and fields."""


@dataclass(frozen=True, slots=True)
class TokenKind:
    """A kind of tokens.

    Attributes:
        name: the name in settings, records, fields and messages.
        length: number of characters in a token, 6 bits each.
        is_sorted_set: whether the tokens of a document are an ascending set. Otherwise they are in text order, with
            repeats.
        index_option: the option of `simdoc-search index` that adds these tokens. Empty if every new store has them.
        backfill_option: the option of `simdoc-search backfill` that adds these tokens.
    """

    name: KindName
    length: int
    is_sorted_set: bool
    index_option: str
    backfill_option: str

    def how_to_add(self, location: str) -> str:
        """Return advice on how to add these tokens to a store that `simdoc-search index` created."""
        if not self.index_option:
            return "index the documents again into a new store"
        if location == ":memory:":
            return "request them in the settings when you open the store"
        return (
            f"add them with: {shlex.join(['simdoc-search', 'index', *self.index_option.split(), '--store', location])}"
        )


KINDS: dict[KindName, TokenKind] = {
    "passages": TokenKind("passages", PASSAGE_LENGTH, True, "", "--passages"),
    "sentences": TokenKind("sentences", SENTENCE_LENGTH, False, "--with versions", "--with versions"),
    "concepts": TokenKind("concepts", CONCEPT_LENGTH, False, "--with relations", "--with relations"),
}
"""All kinds by name, in the order in which they are stored."""


def names_of_kinds(settings: Settings) -> list[KindName]:
    """Return the names of the kinds in an index with these settings."""
    return [name for name in KINDS if getattr(settings, name) is not None]


def kinds_of(settings: Settings) -> list[TokenKind]:
    """Return the kinds in an index with these settings."""
    return [KINDS[name] for name in names_of_kinds(settings)]
