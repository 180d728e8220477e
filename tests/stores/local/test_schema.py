"""Records are packed for a local store in batches."""

from __future__ import annotations

import numpy as np
import pytest
import tantivy

from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.schema import build_schema, encode_records, optional_fields, to_record
from simdoc_search.stores.record import Record


@pytest.mark.parametrize("bucket_count", [4, 512, 4096])
def test_the_codes_of_each_record_are_unpacked(bucket_count: int) -> None:
    """The records have different numbers of tokens, also none and all."""
    settings = Settings(sketch=MinHash(bucket_count=bucket_count))
    random = np.random.default_rng(bucket_count)
    records: list[Record] = []
    for count in (1, 0, bucket_count, bucket_count // 2, 3):
        slots = np.sort(random.permutation(bucket_count)[:count]).astype(np.uint32)
        token_ids = slots << np.uint32(9) | random.integers(0, 512, count).astype(np.uint32)
        records.append(Record(f"d{len(records)}", token_ids, count, "digest"))
    schema = build_schema(optional_fields(settings))

    for record, encoded in zip(records, encode_records(records, settings, store_text=True), strict=True):
        stored = to_record(tantivy.Document.from_dict(encoded.content, schema), settings)
        assert (stored.id, stored.token_ids.tolist()) == (record.id, record.token_ids.tolist())
        assert encoded.content["buckets"] == len(record.token_ids)
