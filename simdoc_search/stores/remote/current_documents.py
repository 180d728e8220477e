"""Reads documents as they are now, even if searches do not show their last changes yet, and hashes them."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import StoreUnavailableError
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.record import DocumentHashes
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.bulk import error_reason, routing_entry
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import ResponseTooLargeError
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.point_in_time import RawHit

_DOCUMENTS_AT_ONCE = 100


def read_current_documents(engine: Engine, mget_docs: list[dict[str, Any]]) -> list[RawHit]:
    """Return the current documents, even if searches do not show them yet.

    `mget_docs` are the entries of the documents in the `docs` of an `_mget` request.

    Returns:
        The documents in the same order. The key `found` of each document says whether it exists.

    Raises:
        StoreError: a document cannot be read because its shard is not available. See also `Engine.call`.
    """
    try:
        documents: list[RawHit] = engine.call("POST", ["_mget"], {"docs": mget_docs})["docs"]
    except ResponseTooLargeError:
        if len(mget_docs) == 1:
            raise
        middle = len(mget_docs) // 2
        return [
            *read_current_documents(engine, mget_docs[:middle]),
            *read_current_documents(engine, mget_docs[middle:]),
        ]
    if error := next((document["error"] for document in documents if "error" in document), None):
        raise StoreUnavailableError(
            f"cannot read documents from {engine.name} ({error_reason(error)}); run the command again later"
        )
    return documents


def read_current_hits(
    access: IndexAccess, keys: Collection[DocumentKey], *, excludes: Collection[str] = ()
) -> dict[DocumentKey, RawHit]:
    """Return the current documents with these keys, with the numbers of their versions. Missing ones are omitted.

    `excludes` are the parts of the documents that are not loaded.
    """
    ids, engine = dict.fromkeys(key.id for key in keys), access.background_engine
    id_source = access.id_field.source_fields or {"excludes": ["*"]}
    found = find_by_id(access, ids, source=id_source, engine=engine, ids_per_request=_DOCUMENTS_AT_ONCE)
    source = {"excludes": [*excludes]}
    mget_docs = [
        {"_index": hit["_index"], "_id": hit["_id"], "_source": source, **routing_entry(hit)}
        for hit in found
        if access.id_field.key_of(hit) in keys
    ]
    hits = (
        hit
        for start in range(0, len(mget_docs), _DOCUMENTS_AT_ONCE)
        for hit in read_current_documents(engine, mget_docs[start : start + _DOCUMENTS_AT_ONCE])
        if hit["found"]
    )
    return {key: hit for hit in hits if (key := access.id_field.key_of(hit)) in keys}


def read_hashes(access: IndexAccess, keys: Collection[DocumentKey]) -> dict[DocumentKey, DocumentHashes]:
    """Return hashes of the documents with these keys; see `Store.current_hashes`."""
    hits = read_current_hits(access, keys, excludes=[f"{access.field}.{name}" for name in ("tokens", *TOKEN_KINDS)])
    return {key: compute_hashes(access, hit) for key, hit in hits.items()}


def compute_hashes(access: IndexAccess, hit: RawHit) -> DocumentHashes:
    """Return hashes of a document.

    The content is the whole `_source` without the fingerprint, because the `text_hash` in the fingerprint may be stale.
    It is hashed nevertheless, because the mapping may leave the text out of `_source`.
    """
    record = access.to_record(hit)
    values = [access.fields_of(hit), record.digest, record.text_hash]
    if record.text is not None:
        hash_of_text = text_hash(record.text)
    else:
        hash_of_text = record.text_hash if access.is_simdoc_index else ""
    return DocumentHashes(text_hash(json.dumps(values, sort_keys=True)), hash_of_text)
