"""Which document or text is meant, and what is its text?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simdoc_search.analysis.normalise import normalised_length
from simdoc_search.corpus import read_bytes
from simdoc_search.documents import Place
from simdoc_search.errors import NoTextError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.query import FingerprintQuery
from simdoc_search.search import SimilaritySearch
from simdoc_search.search.resolver import Resolver
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.record import Record
from simdoc_search.web.collection import NotKeptError
from simdoc_search.web.limits import FILE, TEXT_BYTES
from simdoc_search.web.request import Asked

_OF_THE_MACHINE = re.compile(r"[/\\~]|\.\.?[/\\]|[A-Za-z]:[/\\]")


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that came with a request, and what its file is called; empty: it was pasted."""

    text: str
    name: str = ""


def has_text(asked: Asked) -> bool:
    """Whether a text is given, not a document."""
    return asked.upload is not None or bool(asked.one("text").strip())


def given_text(asked: Asked, maximum: int = TEXT_BYTES) -> GivenText:
    """The text that was pasted or uploaded.

    Args:
        asked: the request.
        maximum: characters of the text, as it is and after normalisation.

    Raises:
        QuerySyntaxError: there is no text, or it is longer.
        CorpusError: the file gives no text.
    """
    given = _given(asked)
    if (length := letters_of(given.text, asked)) > maximum:
        raise QuerySyntaxError(
            f"the text has {length:,} characters after normalisation; {maximum:,} is the maximum here, "
            "the command line takes more"
        )
    return given


def letters_of(text: str, asked: Asked) -> int:
    """How many characters a text has, as it is or after normalisation, whichever is more."""
    profile = asked.collection.search().store.settings.analysis.profile
    return max(len(text), normalised_length(text, profile))


def _given(asked: Asked) -> GivenText:
    if asked.upload is not None:
        found = read_bytes(asked.upload.name, asked.upload.data, max_bytes=TEXT_BYTES, limits=FILE)
        return GivenText(found.text, found.id)
    if not asked.one("text").strip():
        raise QuerySyntaxError("there is nothing to look for; name a document, paste a text or choose a file")
    return GivenText(asked.one("text"), asked.one("name"))


def check_has_passages(search: SimilaritySearch) -> None:
    """Refuse what passages would answer, where there are none.

    Raises:
        NotKeptError: there are none.
    """
    if search.store.settings.passages is None:
        raise NotKeptError("this collection was made without passages; index its documents again without --no-passages")


def check_name(search: SimilaritySearch, name: str) -> None:
    """Refuse paths of this machine: whoever asks is not to learn by them where files lie.

    Raises:
        UnknownDocumentError: it is such a path, and no document has it as its id.
    """
    bare = name.strip().removeprefix('"')
    if _OF_THE_MACHINE.match(bare) and not any(search.store.records([bare.removesuffix('"')])):
        raise UnknownDocumentError(name.strip())


def place_of(asked: Asked, search: SimilaritySearch, prefix: str = "") -> Place:
    """Where the document is that `id` names, or `a` and `b` do: by its id, or by its name if only one has it.

    Raises:
        QuerySyntaxError: nothing is named.
        UnknownDocumentError: there is no such document.
        AmbiguousQueryError: there are several.
    """
    id = asked.one(prefix or "id")
    begin = f"{prefix}_" if prefix else ""
    if not id.strip():
        raise QuerySyntaxError(f"name a document: {prefix or 'id'} is empty")
    if index := asked.one(f"{begin}index"):
        return Resolver(search.store).record(id, Place(id, index, asked.one(f"{begin}routing") or None)).place
    check_name(search, id)
    if any(search.store.records([id])):
        return Resolver(search.store).record(id).place
    return Resolver(search.store).record(search.resolve(id, overlap=0).id).place


def record_at(search: SimilaritySearch, place: Place, *, needs_text: bool = False) -> Record:
    """The document at a place, with its text if the store has it.

    Raises:
        UnknownDocumentError: it is not there.
        NoTextError: it is there without a text, and that is needed.
    """
    found = read_records(search.store, [place]).get(place)
    if found is None:
        raise UnknownDocumentError(place.id, search.store.suggest(place.id))
    if needs_text and found.text is None:
        raise NoTextError(place.id)
    return found


def query_at(place: Place) -> Place | FingerprintQuery:
    """A place as a question: in a store that is no engine it is an id alone."""
    return place if place.index else FingerprintQuery(place.id)
