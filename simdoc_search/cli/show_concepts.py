"""Prints the concepts of a document for `simdoc-search show --concepts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import print_json, say
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.search import DocumentConcept
    from simdoc_search.stores.base import Store

_MAX_NAMES = 3
_MAX_WIDTH = 24  # of the column of words


def show_concepts(store: Store, place: Place, synonyms: Path | None, *, as_json: bool) -> None:
    """Print the concepts of a document, highest weight first."""
    from simdoc_search.as_json import concepts_as_json
    from simdoc_search.concepts import read_synonyms
    from simdoc_search.search import SimilaritySearch

    result = SimilaritySearch(store).concepts(place, synonyms=None if synonyms is None else read_synonyms(synonyms))
    if as_json:
        print_json(concepts_as_json(result))
        return
    say(f"document   {place.id}")
    counts = f"{counted(len(result.concepts), 'word')} in {counted(result.paragraphs, 'paragraph')}"
    say(f"concepts   {counts}; weight 1 means only one of {counted(result.documents, 'document')} has it")
    width = min(_MAX_WIDTH, max([7, *(len(concept.word) for concept in result.concepts)]))
    say(f"{'weight':>7}{'documents':>11}{'times':>7}  {'word':<{width}}  from")
    for concept in result.concepts:
        numbers = f"{concept.weight:>7.2f}{concept.documents:>11,}{concept.times:>7,}"
        say(f"{numbers}  {concept.word or '–':<{width}}  {_origin(concept)}".rstrip())
    if result.unnamed:
        say(f"note: {result.unnamed}", err=True)


def _origin(concept: DocumentConcept) -> str:
    """Return the concepts of the text that contain the word, and its synonyms in them."""
    more = len(concept.names) - _MAX_NAMES
    names = ", ".join(concept.names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{names} (synonyms: {', '.join(concept.synonyms)})" if concept.synonyms else names
