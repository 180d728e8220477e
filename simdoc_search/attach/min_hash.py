"""Fields that the engine itself fills with its `min_hash` filter: their settings, and whether it does as it is told.

The engine fingerprints what is indexed, and such a field is a store: `open_store(URL, field="body.fingerprint")`. For a
request of your own `fingerprint(text, *settings_of_engine())` has the very terms, and
`similar_query(fp.tokens("lucene"), kind="terms", field="body.fingerprint")` asks for them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simdoc_search.analysis import Analysis
from simdoc_search.sketch import MinHash
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.min_hash import SPELLINGS, TermSettings, analysis_of_engine, check_terms

ANALYZER = "simdoc_min_hash"


def settings_of_engine(minhash: MinHash | None = None) -> tuple[Analysis, MinHash]:
    """How such a field is analysed: standard words, Lucene's lower case, no shingles of fewer words.

    Raises:
        ValueError: the settings have a hash key, which no engine's filter knows.
    """
    if minhash is not None and minhash.key is not None:
        raise ValueError("an engine's min_hash filter takes no hash key; fill a field of ours, as with backfill")
    return analysis_of_engine(), minhash or MinHash(with_rotation=True)


def min_hash_index(text_field: str = "body", minhash: MinHash | None = None) -> dict[str, Any]:
    """Settings and mappings for an index whose text field has a multi-field `fingerprint`.

    Args:
        text_field: the name of the text field.
        minhash: the filter's options; None: those of the engine, 512 buckets with rotation.
    """
    analysis, minhash = settings_of_engine(minhash)
    options = {key: value for key, value in asdict(minhash).items() if key in {*SPELLINGS, "with_rotation"}}
    both = options | {SPELLINGS[key]: value for key, value in options.items() if key in SPELLINGS}
    size = analysis.shingle_size
    shingles = {"type": "shingle", "min_shingle_size": size, "max_shingle_size": size, "output_unigrams": False}
    filters = {"simdoc_shingles": shingles, ANALYZER: {"type": "min_hash", **both}}
    analyzer = {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", *filters]}
    tokens = {"type": "text", "analyzer": ANALYZER, "similarity": "boolean", "norms": False, "index_options": "docs"}
    # No search of a user is to meet the tokens: `keyword` leaves her words as they are, and no word is a token.
    field = {"type": "text", "fields": {"fingerprint": {**tokens, "search_analyzer": "keyword"}}}
    return {
        "settings": {"analysis": {"filter": filters, "analyzer": {ANALYZER: analyzer}}},
        "mappings": {"properties": {text_field: field}},
    }


def check_min_hash(client: Any, index: str, field: str = "body.fingerprint", minhash: MinHash | None = None) -> None:
    """Make sure that the engine's terms are ours.

    Args:
        client: the application's, `opensearchpy.OpenSearch` or `elasticsearch.Elasticsearch`; or an `Engine`.
        index: the name of the index.
        field: the path of the field that the filter fills.
        minhash: the options that it was given; None: those of `min_hash_index`.

    Raises:
        StoreError: it ignores an option, or its field is analysed in another way.
        StoreNotFoundError: there is no such index.
        RequestError: there is no such field.
        TypeError: the client is asynchronous.
    """
    engine = client if isinstance(client, Engine) else Engine(client, "the engine")
    analysis, minhash = settings_of_engine(minhash)
    check_terms(engine, index, field, TermSettings(analysis, minhash, passages=None, words=False))
