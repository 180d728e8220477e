"""Fields that the engine itself fills with its `min_hash` filter: their settings, and whether it does as it is told.

The engine fingerprints what is indexed, and queries are made here: `fingerprint(text, *settings_of_engine())` has the
very terms, `similar_query(fp.tokens("lucene"), kind="terms", field="body.min_hash")` asks for them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.errors import StoreError
from simdoc_search.sketch import MinHash
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.stores.remote.engine import Engine

__all__ = ["check_min_hash", "min_hash_index", "settings_of_engine"]

ANALYZER = "simdoc_min_hash"

_SPELLINGS = {"bucket_count": "bucketCount", "hash_set_size": "hashSetSize", "hash_count": "hashCount"}
"""OpenSearch 2.0 to 2.16 and Elasticsearch from 8.0 look for the second spelling of the first two, and others for the
first; each ignores what it does not know. With_rotation has one spelling."""

_PROBE = " ".join(f"w{number}" for number in range(400))


def settings_of_engine(minhash: MinHash | None = None) -> tuple[Analysis, MinHash]:
    """How such a field is analysed: standard words, Lucene's lower case, no shingles of fewer words.

    Raises:
        ValueError: the settings have a hash key, which no engine's filter knows.
    """
    if minhash is not None and minhash.key is not None:
        raise ValueError("an engine's min_hash filter takes no hash key; fill a field of ours, as with backfill")
    return Analysis(profile="lowercase", short_texts=False), minhash or MinHash(with_rotation=True)


def min_hash_index(text_field: str = "body", minhash: MinHash | None = None) -> dict[str, Any]:
    """Settings and mappings for an index whose text field has a multi-field `min_hash`.

    Args:
        text_field: the name of the text field.
        minhash: the filter's options; None: those of the engine, 512 buckets with rotation.
    """
    analysis, minhash = settings_of_engine(minhash)
    options = {key: value for key, value in asdict(minhash).items() if key in {*_SPELLINGS, "with_rotation"}}
    both = options | {_SPELLINGS[key]: value for key, value in options.items() if key in _SPELLINGS}
    size = analysis.shingle_size
    shingles = {"type": "shingle", "min_shingle_size": size, "max_shingle_size": size, "output_unigrams": False}
    filters = {"simdoc_shingles": shingles, ANALYZER: {"type": "min_hash", **both}}
    analyzer = {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", *filters]}
    tokens = {"type": "text", "analyzer": ANALYZER, "similarity": "boolean", "norms": False, "index_options": "docs"}
    # No search of a user is to meet the tokens: `keyword` leaves her words as they are, and no word is a token.
    field = {"type": "text", "fields": {"min_hash": {**tokens, "search_analyzer": "keyword"}}}
    return {
        "settings": {"analysis": {"filter": filters, "analyzer": {ANALYZER: analyzer}}},
        "mappings": {"properties": {text_field: field}},
    }


def check_min_hash(engine: Engine, index: str, field: str = "body.min_hash", minhash: MinHash | None = None) -> None:
    """Make sure that the engine's terms are ours.

    Raises:
        StoreError: it ignores an option, or its field is analysed in another way.
        RequestError: there is no such index or field.
    """
    asked = {"field": field, "text": _PROBE}
    found = {each["token"] for each in engine.call("POST", [index, "_analyze"], asked)["tokens"]}
    analysis, minhash = settings_of_engine(minhash)
    ours = set(fingerprint(_PROBE, analysis, minhash).tokens("lucene"))
    # A lone surrogate is U+FFFD in the index.
    if {without_surrogates(each) for each in found} != {without_surrogates(each) for each in ours}:
        raise StoreError(
            f"{engine.name} fills {index}/{field} with {len(found)} terms where {minhash} makes {len(ours)}; give the "
            "options of min_hash in both spellings (bucket_count and bucketCount), and lowercase, shingle before it"
        )
