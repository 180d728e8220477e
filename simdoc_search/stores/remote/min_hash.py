"""Reads the settings of a field that the engine fills with its own `min_hash` filter, and checks its terms.

The options of the filter are read from the settings of the index. Then the engine analyses two texts. If it ignores an
option, or if the analyzer produces different shingles, its terms differ from the terms that simdoc-search computes.
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
from simdoc_search.sketch.estimate import CompareTokens
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.terms import compare_terms, encode_terms, select_reliable_minima
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.indices import closed_reason
from simdoc_search.stores.remote.mappings import field_or_multi_field, mapping_at

OPTION_SPELLINGS = {"bucket_count": "bucketCount", "hash_set_size": "hashSetSize", "hash_count": "hashCount"}
"""The two spellings of each option. OpenSearch 2.0 to 2.16 and Elasticsearch since 8.0 accept `bucketCount`,
`hashSetSize` and `hash_count`. Other versions accept the first spelling of all options. A version ignores a spelling
that it does not accept.
"""

_FILTER_TYPE = "min_hash"
_DEFAULT_BUCKET_COUNT = 512  # the default of Lucene's MinHashFilter
_LONG_TEXT = " ".join(f"w{number}" for number in range(400))
_SHORT_TEXT = "w0 w1"


@dataclass(frozen=True, slots=True)
class MinHashFieldSettings(Settings):
    """Settings of a field that a `min_hash` filter fills. `sketch` contains the options of the filter."""

    def __post_init__(self) -> None:
        if not isinstance(self.sketch, MinHash):
            raise ValueError(f"an engine's min_hash filter cannot compute the sketch {self.sketch.stored_name}")

    @property
    def stored_sketch(self) -> str:
        """The options, as the `info` command shows them."""
        options = self.options
        rotation = str(options.with_rotation).lower()
        return f"{_FILTER_TYPE}:{options.hash_count} {options.bucket_count} {options.hash_set_size} {rotation}"

    @property
    def compare_tokens(self) -> CompareTokens:
        """The function that estimates the overlap of two documents from their token ids."""
        return partial(compare_terms, minhash=self.options)

    @property
    def options(self) -> MinHash:
        """The options of the filter."""
        assert isinstance(self.sketch, MinHash)  # noqa: S101 - checked by __post_init__
        return self.sketch

    def token_ids_and_terms(self, fingerprint: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """Return the token ids of a text, for comparing it with other texts, and its terms, for queries."""
        values = select_reliable_minima(fingerprint.minima, self.options)
        return encode_terms(values, self.options), self.options.lucene_terms(values)


@dataclass(frozen=True, slots=True)
class MinHashFieldIndices:
    """The indices behind the name of a store at the time of opening. This class has the same methods as `Indices`.

    `mappings` are those of the indices in which a `min_hash` filter fills the field. `unfilled_indices` are the other
    open indices.
    """

    name: str
    field: str
    mappings: Mapping[str, Mapping[str, Any]]
    unfilled_indices: Sequence[str]
    closed_indices: Sequence[str]
    is_simdoc_index: bool = False

    @property
    def queryable_mappings(self) -> Mapping[str, Mapping[str, Any]]:
        """Mappings of the indices whose documents can be found."""
        return self.mappings

    def exclusion_clauses(self, _: Engine) -> list[dict[str, Any]]:
        """Return no clause, because documents without terms do not match any query."""
        return []

    def describe_fault(self, _: str | None) -> str:
        """Return an empty string, because these indices have no faults."""
        return ""

    def reload_if_old(self, _: Engine) -> None:
        """Do nothing, because the list of indices is only read when the store is opened."""

    def find_left_out_indices(self, engine: Engine) -> tuple[LeftOutIndex, ...]:
        """Return the indices that are not queried; see `Store.left_out_indices`."""
        reason = f"this index has no field {self.field} with terms of a min_hash filter; add this field, then reindex"
        counts = {index: engine.count(self.name, {"term": {"_index": index}}) for index in self.unfilled_indices}
        unfilled_indices = [LeftOutIndex(index, count, reason) for index, count in counts.items()]
        return (*unfilled_indices, *(LeftOutIndex(index, None, closed_reason(index)) for index in self.closed_indices))


def min_hash_analysis(shingle_size: int = 5) -> Analysis:
    """Return the analysis of a `min_hash` field. A text with fewer than `shingle_size` words has no shingle.

    The words are those of Lucene's standard tokenizer, in lower case.
    """
    return Analysis(profile="lowercase", shingle_size=shingle_size, short_texts=False)


def is_text(mapping: Mapping[str, Any], field: str) -> bool:
    """Return whether a field or multi-field has the type `text`."""
    return (field_or_multi_field(mapping, field) or {}).get("type") == "text"


def min_hash_analyzer(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> str:
    """Return the name of the analyzer that fills a field with `min_hash` terms, or an empty string.

    `settings` is the `index` part of the settings of the index. The field may be a multi-field.
    """
    mapped = field_or_multi_field(mapping, field) or {}
    name = str(mapped.get("analyzer", "")) if mapped.get("type") == "text" else ""
    return name if any(_filter_type(settings, part) == _FILTER_TYPE for part in _filter_names(settings, name)) else ""


def read_min_hash_settings(settings: Mapping[str, Any], analyzer: str) -> MinHashFieldSettings:
    """Return the settings of a field with an analyzer that has a `min_hash` filter.

    Raises:
        StoreError: the filter does not accept the value of an option.
    """
    name_by_type = {_filter_type(settings, name): name for name in _filter_names(settings, analyzer)}
    options = _analysis_part(settings, "filter", name_by_type[_FILTER_TYPE])
    shingles = _analysis_part(settings, "filter", name_by_type.get("shingle", ""))

    def read_option(name: str, default: int) -> int:
        return int(options.get(name, options.get(OPTION_SPELLINGS[name], default)))

    try:
        buckets, set_size = read_option("bucket_count", _DEFAULT_BUCKET_COUNT), read_option("hash_set_size", 1)
        rotation = str(options.get("with_rotation", buckets > 1)).lower() == "true" and set_size == 1
        minhash = MinHash(read_option("hash_count", 1), buckets, set_size, rotation)
        analysis = min_hash_analysis(int(shingles.get("max_shingle_size", 2)))
    except ValueError as error:
        raise StoreError(
            f"the analyzer {analyzer} has options that a min_hash filter does not accept ({error}); change these "
            "options, then reindex"
        ) from None
    return MinHashFieldSettings(analysis, minhash, passages=None, indexes_word_pairs=False)


def source_text_field(mapping: Mapping[str, Any], field: str) -> str:
    """Return the field in `_source` with the text: the parent of a multi-field, or otherwise the field itself."""
    return field if mapping_at(mapping, field) else field.rpartition(".")[0]


def check_terms(engine: Engine, index: str, field: str, settings: MinHashFieldSettings) -> None:
    """Check that the engine fills a field with the same terms that simdoc-search computes.

    Raises:
        StoreError: the engine ignores an option, or analyses the field differently.
        RequestError: the index or the field does not exist.
    """
    for text in (_LONG_TEXT, _SHORT_TEXT):
        response = engine.call("POST", [index, "_analyze"], {"field": field, "text": text})
        # The response may contain surrogates. The index contains U+FFFD instead.
        terms = {without_surrogates(token["token"]) for token in response["tokens"]}
        expected = set(fingerprint(text, settings.analysis, settings.sketch).tokens("lucene"))
        if terms != expected:
            raise StoreError(
                f"the min_hash filter of {index}/{field} on {engine.name} does not compute the same terms as "
                f"simdoc-search with {settings.sketch} ({len(terms)} terms instead of {len(expected)}). Compare the "
                "analyzer with the output of `simdoc-search template show --min-hash`. The filters lowercase and "
                "shingle must come before min_hash, and each option must have both spellings (bucket_count and "
                "bucketCount)"
            )


def _filter_names(settings: Mapping[str, Any], analyzer: str) -> list[str]:
    filters = _analysis_part(settings, "analyzer", analyzer).get("filter", [])
    return [filters] if isinstance(filters, str) else list(filters)


def _filter_type(settings: Mapping[str, Any], name: str) -> str:
    """Return the type of a filter. The name of a built-in filter is its type."""
    return str(_analysis_part(settings, "filter", name).get("type", name))


def _analysis_part(settings: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    return dict(settings.get("analysis", {}).get(section, {}).get(name, {}))
