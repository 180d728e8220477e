"""A field that the engine itself fills with its `min_hash` filter: how it is analysed, and whether its terms are ours.

The options are read from the settings of the index. Then the engine analyses two texts: an option that it ignores, or
an analyzer that makes other shingles than ours, is found out by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.errors import StoreError
from simdoc_search.sketch.estimate import Estimate
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.terms import codes_of_terms, own_values, shared_and_union_of_terms
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import mapping_at

SPELLINGS = {"bucket_count": "bucketCount", "hash_set_size": "hashSetSize", "hash_count": "hashCount"}
"""OpenSearch 2.0 to 2.16 and Elasticsearch from 8.0 look for the second spelling of the first two, and others for the
first; each ignores what it does not know. With_rotation has one spelling."""

_TYPE = "min_hash"
_BUCKETS = 512  # Lucene's default
_PROBE = " ".join(f"w{number}" for number in range(400))
_SHORT = "w0 w1"


@dataclass(frozen=True, slots=True)
class TermSettings(Settings):
    """Settings of such a field: `minhash` has the options of the filter, whichever they are."""

    def __post_init__(self) -> None:
        if not isinstance(self.minhash, MinHash):
            raise ValueError(f"an engine's min_hash filter makes no sketch of the kind {self.minhash.stored_name}")

    @property
    def of_tokens(self) -> str:
        """The options, as `info` shows them."""
        made = self.options
        parts = (made.hash_count, made.bucket_count, made.hash_set_size, str(made.with_rotation).lower())
        return f"{_TYPE}:" + " ".join(map(str, parts))

    @property
    def estimate(self) -> Estimate:
        """How the codes of two documents are compared."""
        return partial(shared_and_union_of_terms, minhash=self.options)

    @property
    def options(self) -> MinHash:
        """Those of the filter."""
        assert isinstance(self.minhash, MinHash)  # noqa: S101 - __post_init__ saw to it
        return self.minhash

    def codes_and_terms(self, made: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """What a text is compared by, and the terms that an engine is asked for, as many."""
        values = own_values(made.minima, self.options)
        return codes_of_terms(values, self.options), self.options.lucene_terms(values)


def analysis_of_engine(shingle_size: int = 5) -> Analysis:
    """How such a field is analysed: standard words, Lucene's lower case, no shingles of fewer words."""
    return Analysis(profile="lowercase", shingle_size=shingle_size, short_texts=False)


def is_text(mapping: Mapping[str, Any], field: str) -> bool:
    """Whether a field of an index, or another form of one, is analysed."""
    return (_form_at(mapping, field) or {}).get("type") == "text"


def min_hash_analyzer(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> str:
    """The analyzer that fills a field of an index with `min_hash` terms; empty if the field is another one.

    Args:
        mapping: that of the index.
        settings: those of the index, below `index`.
        field: the path of the field, or of another form of one.
    """
    name = str((_form_at(mapping, field) or {}).get("analyzer", "")) if is_text(mapping, field) else ""
    return name if any(_kind(settings, each) == _TYPE for each in _filters(settings, name)) else ""


def settings_of_index(settings: Mapping[str, Any], analyzer: str) -> TermSettings:
    """The settings of a field with such an analyzer.

    Raises:
        StoreError: an option is not a number that the filter takes.
    """
    names = {_kind(settings, each): each for each in _filters(settings, analyzer)}
    given = _part(settings, "filter", names[_TYPE])
    shingles = _part(settings, "filter", names.get("shingle", ""))

    def option(name: str, default: int) -> int:
        return int(given.get(name, given.get(SPELLINGS[name], default)))

    try:
        buckets, kept = option("bucket_count", _BUCKETS), option("hash_set_size", 1)
        rotation = str(given.get("with_rotation", buckets > 1)).lower() == "true" and kept == 1
        minhash = MinHash(option("hash_count", 1), buckets, kept, rotation)
        analysis = analysis_of_engine(int(shingles.get("max_shingle_size", 2)))
    except ValueError as error:
        raise StoreError(f"the analyzer {analyzer} has options that no min_hash filter takes: {error}") from None
    return TermSettings(analysis, minhash, passages=None, words=False)


def text_field_of(mapping: Mapping[str, Any], field: str) -> str:
    """The field that has the text in `_source`: of another form of a field the field itself."""
    return field if mapping_at(mapping, field) else field.rpartition(".")[0]


def check_terms(engine: Engine, index: str, field: str, settings: TermSettings) -> None:
    """Make sure that the engine's terms are ours.

    Raises:
        StoreError: it ignores an option, or its field is analysed in another way.
        RequestError: there is no such index or field.
    """
    for text in (_PROBE, _SHORT):
        answer = engine.call("POST", [index, "_analyze"], {"field": field, "text": text})
        found = {without_surrogates(each["token"]) for each in answer["tokens"]}  # U+FFFD in the index
        made = fingerprint(text, settings.analysis, settings.minhash)
        if found != set(made.tokens("lucene")):
            raise StoreError(
                f"{engine.name} fills {index}/{field} with {len(found)} terms where {settings.minhash} makes "
                f"{len(made.tokens('lucene'))}; give the options of min_hash in both spellings (bucket_count and "
                "bucketCount), and lowercase, shingle before it, as simdoc-search template show --min-hash prints them"
            )


def _form_at(mapping: Mapping[str, Any], field: str) -> Mapping[str, Any] | None:
    parent, _, last = field.rpartition(".")
    forms: Mapping[str, Any] = (mapping_at(mapping, parent) or {}).get("fields", {}) if parent else {}
    return mapping_at(mapping, field) or forms.get(last)


def _filters(settings: Mapping[str, Any], analyzer: str) -> list[str]:
    found = _part(settings, "analyzer", analyzer).get("filter", [])
    return [found] if isinstance(found, str) else list(found)


def _kind(settings: Mapping[str, Any], name: str) -> str:
    """The type of a filter: one that the engine brings is named like it."""
    return str(_part(settings, "filter", name).get("type", name))


def _part(settings: Mapping[str, Any], kind: str, name: str) -> Mapping[str, Any]:
    return dict(settings.get("analysis", {}).get(kind, {}).get(name, {}))
