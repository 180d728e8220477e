"""Defines the optional kinds of sketch tokens in an index: hashes of passages, of sentences and of concepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simdoc_search.display import command_line
from simdoc_search.sketch.concepts import CONCEPT_TOKEN_LENGTH
from simdoc_search.sketch.sentences import SENTENCE_TOKEN_LENGTH
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PASSAGE_TOKEN_LENGTH

TokenKindName = Literal["passages", "sentences", "concepts"]
"""The name of a kind of token in settings, records and fields."""


@dataclass(frozen=True, slots=True)
class TokenKind:
    """An optional kind of token in an index."""

    name: TokenKindName  # the name in settings, records, fields and messages
    length: int  # number of characters in a token, 6 bits each
    is_sorted_set: bool  # whether tokens are ascending and distinct; otherwise they are in text order, and may repeat
    index_option: str  # the option of `simdoc-search index` that adds these tokens. Empty if every new store has them.
    backfill_option: str  # the option of `simdoc-search backfill` that adds these tokens

    def how_to_add(self, location: str) -> str:
        """Return advice on how to add these tokens to a store that `simdoc-search index` created."""
        if not self.index_option:
            return "index the documents again into a new index"
        if location == ":memory:":
            return f"open the index again with settings that include {self.name}"
        return f"add them with: {command_line(location, 'index', *self.index_option.split())}"


TOKEN_KINDS: dict[TokenKindName, TokenKind] = {
    "passages": TokenKind("passages", PASSAGE_TOKEN_LENGTH, True, "", "--passages"),
    "sentences": TokenKind("sentences", SENTENCE_TOKEN_LENGTH, False, "--with versions", "--with versions"),
    "concepts": TokenKind("concepts", CONCEPT_TOKEN_LENGTH, False, "--with related", "--with related"),
}
"""All optional kinds of tokens by name, in the order in which they are stored."""


def token_kind_names(settings: Settings) -> list[TokenKindName]:
    """Return the names of the kinds of tokens in an index with these settings."""
    return [name for name in TOKEN_KINDS if getattr(settings, name) is not None]


def token_kinds(settings: Settings) -> list[TokenKind]:
    """Return the kinds of tokens in an index with these settings."""
    return [TOKEN_KINDS[name] for name in token_kind_names(settings)]
