"""Describes and checks fields that the engine fills with its `min_hash` filter.

`open_store(URL, field="body.fingerprint")` opens such a field as a store. To build your own queries, compute the terms
of a text with `fingerprint(text, *choose_min_hash_settings()).tokens("lucene")`, and build the query with
`similar_query(terms, kind="terms", field="body.fingerprint")`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simdoc_search.analysis import Analysis
from simdoc_search.sketch import MinHash
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.min_hash import OPTION_SPELLINGS, MinHashFieldSettings, check_terms, min_hash_analysis

ANALYZER = "simdoc_min_hash"


def choose_min_hash_settings(minhash: MinHash | None = None) -> tuple[Analysis, MinHash]:
    """Return the settings of a field that the engine fills.

    Lucene's standard tokenizer splits the text into words, which are converted to lower case. A text shorter than a
    shingle has no terms.

    Raises:
        ValueError: the settings have a hash key, which the filter does not support.
    """
    if minhash is not None and minhash.key is not None:
        raise ValueError(
            "the engine's min_hash filter does not support a hash key; use `simdoc-search backfill` instead"
        )
    return min_hash_analysis(), minhash or MinHash(with_rotation=True)


def build_min_hash_index(text_field: str = "body", minhash: MinHash | None = None) -> dict[str, Any]:
    """Return the request body that creates an index whose text field has the multi-field `fingerprint`.

    Args:
        text_field: the name of the text field.
        minhash: the options of the filter; None selects the engine's defaults, 512 buckets with rotation.
    """
    analysis, minhash = choose_min_hash_settings(minhash)
    options = {key: value for key, value in asdict(minhash).items() if key in {*OPTION_SPELLINGS, "with_rotation"}}
    in_both_spellings = options | {
        OPTION_SPELLINGS[key]: value for key, value in options.items() if key in OPTION_SPELLINGS
    }
    size = analysis.shingle_size
    shingles = {"type": "shingle", "min_shingle_size": size, "max_shingle_size": size, "output_unigrams": False}
    filters = {"simdoc_shingles": shingles, ANALYZER: {"type": "min_hash", **in_both_spellings}}
    analyzer = {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", *filters]}
    tokens = {"type": "text", "analyzer": ANALYZER, "similarity": "boolean", "norms": False, "index_options": "docs"}
    # With the search analyzer `keyword`, the words of a user's search are not hashed, so they match no MinHash term.
    field = {"type": "text", "fields": {"fingerprint": {**tokens, "search_analyzer": "keyword"}}}
    return {
        "settings": {"analysis": {"filter": filters, "analyzer": {ANALYZER: analyzer}}},
        "mappings": {"properties": {text_field: field}},
    }


def check_min_hash(client: Any, index: str, field: str = "body.fingerprint", minhash: MinHash | None = None) -> None:
    """Check that the engine computes the same terms as `fingerprint`.

    Args:
        client: a client, `opensearchpy.OpenSearch` or `elasticsearch.Elasticsearch`, or an `Engine`.
        index: the name of the index.
        field: the path of the field.
        minhash: the options of its filter; None selects the defaults of `build_min_hash_index`.

    Raises:
        StoreError: the engine ignores an option, or the analyzer of the field is different.
        StoreNotFoundError: there is no such index.
        RequestError: there is no such field.
        TypeError: the client is asynchronous.
    """
    engine = client if isinstance(client, Engine) else Engine(client)
    analysis, minhash = choose_min_hash_settings(minhash)
    check_terms(engine, index, field, MinHashFieldSettings(analysis, minhash, passages=None, indexes_word_pairs=False))
