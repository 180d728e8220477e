"""Finds the query document of a request, or reads its query text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from simdoc_search.analysis.normalise import max_normalised_length
from simdoc_search.corpus import read_bytes
from simdoc_search.documents import Document, DocumentKey
from simdoc_search.errors import NoTextError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.query import FingerprintQuery
from simdoc_search.search.resolver import Resolver, find_record
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.record import Record
from simdoc_search.web.request import PageRequest, Upload
from simdoc_search.web.request_limits import MAX_BODY_BYTES, MAX_TEXT_CHARACTERS, UPLOAD_LIMITS

_LOCAL_PATH_PATTERN = re.compile(r"[/\\~]|\.\.?[/\\]|[A-Za-z]:[/\\]")
_LINE_BREAK = re.compile(r"\r\n?")
_VALUES_IN_LINKS = (
    *("q", "id", "index", "routing", "overlap", "probability", "measure", "estimate", "preset", "min_words"),
    *("all", "ignore_quotes", "ignore_bibliography", "explain", "size"),
    *("min_share", "min_smaller_share", "max_distance"),
)
_LISTS_IN_LINKS = ("filter", "exclude", "show", "ignore")
"""Links to other pages of the same query repeat these values of the request."""


@dataclass(frozen=True, slots=True)
class RequestQuery:
    """The query document or the query text of a request."""

    key: DocumentKey | None = None  # of the query document; None if the query is a text
    text: str | None = None  # the query text; None if the query is a stored document
    file: str | None = None  # the name of the uploaded file with the text

    @property
    def id(self) -> str | None:
        """The id of the query document, if any."""
        return self.key.id if self.key else None

    @property
    def name(self) -> str:
        """The id of the document or the name of the file. It is empty for a pasted text."""
        return self.id or self.file or ""

    def arguments(self) -> dict[str, Any]:
        """Return the argument `query` or `text` for a method of `SimilaritySearch`."""
        return {"text": self.text} if self.key is None else {"query": make_query(self.key)}

    def template_values(self, request: PageRequest) -> dict[str, Any]:
        """Return the values that every template with hits needs."""
        same_query: dict[str, Any] = {name: request.value(name) for name in _VALUES_IN_LINKS if request.value(name)}
        same_query |= {name: [*request.values[name]] for name in _LISTS_IN_LINKS if name in request.values}
        return {"query": self, "same_query": {} if self.key is None else same_query}


def read_request_query(request: PageRequest) -> RequestQuery:
    """Return the text or file of a request. If it has neither, return the document with the id in `id`."""
    if not request.has_text:
        if not request.value("id").strip():
            raise QuerySyntaxError(
                "there is nothing to search for; enter the id of a document, paste a text or choose a file"
            )
        return RequestQuery(find_document_key(request, request.served_store.search()))
    if upload := request.uploads.get("file"):
        document = _read_upload(upload)
        query = RequestQuery(text=document.text, file=document.id)
    else:
        query = RequestQuery(text=request.value("text"), file=request.value("name") or None)
    if not request.wants_json:  # a form sends CRLF line breaks, which would shift positions in the text
        query = replace(query, text=_LINE_BREAK.sub("\n", query.text or ""))
    _check_length(query.text or "", request)
    return query


def _read_upload(upload: Upload) -> Document:
    return read_bytes(upload.name, upload.data, max_bytes=MAX_BODY_BYTES, limits=UPLOAD_LIMITS)


def _check_length(text: str, request: PageRequest) -> None:
    if (length := count_characters_for_limit(text, request)) > MAX_TEXT_CHARACTERS:
        raise QuerySyntaxError(
            f"the text has {length:,} characters after Unicode normalisation, more than the limit of "
            f"{MAX_TEXT_CHARACTERS:,}; use the command line instead"
        )


def count_characters_for_limit(text: str, request: PageRequest) -> int:
    """Return the number of characters of a text, before or after Unicode normalisation, whichever is greater."""
    profile = request.served_store.search().store.settings.analysis.profile
    return max(len(text), max_normalised_length(text, profile))


def reject_local_path(search: SimilaritySearch, name: str) -> None:
    """Reject file paths, so that users cannot find out which files exist. An id that looks like a path is accepted."""
    unquoted = name.strip().removeprefix('"')
    if _LOCAL_PATH_PATTERN.match(unquoted) and not any(search.store.records([unquoted.removesuffix('"')])):
        raise UnknownDocumentError(name.strip())


def find_document_key(request: PageRequest, search: SimilaritySearch, field: str = "id") -> DocumentKey:
    """Return the key of the document whose id or unique file name is in the request.

    `field` is the name of the value with the id or file name: `id`, `a` or `b`.
    """
    id = request.value(field)
    prefix = "" if field == "id" else f"{field}_"
    if not id.strip():
        raise QuerySyntaxError(f"the field {field!r} is empty; enter the id or file name of a document")
    if index := request.value(f"{prefix}index"):
        return (
            Resolver(search.store).get_record(id, DocumentKey(id, index, request.value(f"{prefix}routing") or None)).key
        )
    reject_local_path(search, id)
    if any(search.store.records([id])):
        return Resolver(search.store).get_record(id).key
    return find_record(search.store, id).key


def read_stored_record(search: SimilaritySearch, key: DocumentKey) -> Record:
    """Return the document with this key, and its text if the store has it."""
    record = read_records(search.store, [key], load={"text"}).get(key)
    if record is None:
        raise UnknownDocumentError(key.id, search.store.suggest_ids(key.id))
    return record


def read_stored_text(search: SimilaritySearch, key: DocumentKey) -> str:
    """Return the text of the document with this key."""
    text = read_stored_record(search, key).text
    if text is None:
        raise NoTextError(key.id)
    return text


class IgnoredTexts(NamedTuple):
    """The texts whose words are ignored."""

    stored: list[str]  # the texts of stored documents
    own: list[tuple[str, str]]  # the name and the text of each file that the user sent

    @property
    def all(self) -> list[str]:
        """All texts."""
        return self.stored + [text for _, text in self.own]


def read_ignored_texts(request: PageRequest, search: SimilaritySearch) -> IgnoredTexts:
    """Return the texts whose words are ignored: those of documents, of `ignore_file`, and of each `ignore_text`.

    A page repeats the text of a file as `ignore_text`, and its name as `ignore_name`. A text whose name is deleted is
    not used.
    """
    names = request.all_values("ignore")
    for name in names:
        reject_local_path(search, name)
    stored = [read_stored_text(search, find_record(search.store, name).key) for name in names]
    sent = zip_longest(*(request.values.get(name, ()) for name in ("ignore_name", "ignore_text")))
    own = [(name or "your text", text) for name, text in sent if text and (name is None or name.strip())]
    if upload := request.uploads.get("ignore_file"):
        document = _read_upload(upload)
        own.append((document.id, document.text))
    for _, text in own:
        _check_length(text, request)
    return IgnoredTexts(stored, own)


def make_query(key: DocumentKey) -> DocumentKey | FingerprintQuery:
    """Return the query for the document with this key. A local store has no indices, so the query is the id."""
    return key if key.index else FingerprintQuery(key.id)
