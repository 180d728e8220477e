"""What `versions` and `related` are asked about: a document of the store, or a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.input_text import is_stream, read_document

if TYPE_CHECKING:
    from simdoc_search.documents import Document
    from simdoc_search.search import SimilaritySearch


def one_source(
    search: SimilaritySearch,
    id: str | None,
    file: Path | None,
    known: Callable[[Document], dict[str, Any]],
    text: str | None = None,
) -> tuple[dict[str, Any], str | None]:
    """The arguments of a question, and the id of the document that is asked about, if it is stored.

    Args:
        search: over the store that is asked.
        id: a document, by any of its names; None: there is a file, or a text.
        file: a file, `-`, or a pipe. Its document is left out, if the store has one.
        known: what else the question takes of a file that was read, but for a pipe.
        text: what is asked with as it is.

    Raises:
        SimdocError: there is no such document, or the file cannot be read, or is no text.
    """
    from simdoc_search.query import FingerprintQuery
    from simdoc_search.search.files import IndexedFiles

    if text is not None:
        return {"text": text}, None
    if file is None:
        found = search.resolve(id or "", overlap=0).id  # an overlap given apart: what ends in numbers is an id
        return {"query": FingerprintQuery(found)}, found
    read = read_document(file)
    if is_stream(file):
        return {"text": read.text}, None
    indexed = IndexedFiles(search.store).get(file)
    place = indexed.place if indexed else None
    return {"text": read.text, "exclude": place, **known(read)}, place.id if place else None
