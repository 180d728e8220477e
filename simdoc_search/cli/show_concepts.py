"""What `simdoc-search show --concepts` says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import print_json, say
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.search import DocumentConcept
    from simdoc_search.stores.base import Store

_NAMED = 3
_WIDEST = 24  # letters of a word that others are aligned with


def show_concepts(store: Store, place: Place, synonyms: Path | None, *, as_json: bool) -> None:
    """Print the concepts of a document, those that weigh most first."""
    from simdoc_search.as_json import concepts_as_json
    from simdoc_search.concepts import read_synonyms
    from simdoc_search.search import SimilaritySearch

    result = SimilaritySearch(store).concepts(place, synonyms=None if synonyms is None else read_synonyms(synonyms))
    if as_json:
        print_json(concepts_as_json(result))
        return
    say(f"document   {place.id}")
    found = f"{counted(len(result.concepts), 'word')} in {counted(result.paragraphs, 'paragraph')}"
    say(f"concepts   {found}; weight 1: only one of {counted(result.documents, 'document')} has it")
    width = min(_WIDEST, max([7, *(len(each.word) for each in result.concepts)]))
    say(f"{'weight':>7}{'documents':>11}{'times':>7}  {'word':<{width}}  from")
    for each in result.concepts:
        numbers = f"{each.weight:>7.2f}{each.documents:>11,}{each.times:>7,}"
        say(f"{numbers}  {each.word or '–':<{width}}  {_origin(each)}".rstrip())
    if result.unnamed:
        say(f"note: {result.unnamed}", err=True)


def _origin(concept: DocumentConcept) -> str:
    """The concepts of the text that have the word, and what of them counts as it."""
    more = len(concept.names) - _NAMED
    names = ", ".join(concept.names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{names} (synonyms: {', '.join(concept.synonyms)})" if concept.synonyms else names
