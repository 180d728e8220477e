"""Find documents that share text: near-duplicates, reused passages, versions.

Indexing: text -> words -> shingles -> fingerprint -> tokens -> store
Querying: "doc123_20_80" -> query -> plan -> store -> candidates -> hits

errors.py       the errors of the package
installation.py how this package was installed
display.py      makes untrusted text safe to print
tracing.py      OpenTelemetry spans
durable.py      writes files and folders atomically
small_files.py  reads settings, stop words and other small files
batches.py      lists of limited size
cancellation.py cancels long computations
documents.py    documents and skipped files
workers/        subprocesses for code that may crash, hang or run out of memory
corpus/         reads documents
languages.py    identifies the language of a text
analysis/       turns text into words and shingles
chunks/         finds sentences and paragraphs
sketch/         turns shingles into a fingerprint and tokens
query/          parses queries such as doc123_20_80 and plans how to run them; needs no store
passages/       compares two texts
concepts/       extracts keywords and names; reads synonyms
stores/         the local store, and stores in an engine
indexing/       indexes documents into a store
attach/         adds fingerprints to an index that an application owns
duplicates/     finds the duplicates in a collection
dedupe/         removes duplicate rows from datasets
spark/          removes duplicate rows of Spark DataFrames
groups/         finds families and topics in a collection
versions/       finds versions and their order, and related documents
tuning/         learns thresholds from labelled pairs
search/         answers queries
as_json/        converts results to JSON values
web/            the server and its pages
mcp_server.py   the server for agents, over the Model Context Protocol
devengine/      runs OpenSearch on this machine, for development and tests
cli/            the command line
"""

# Not imported from `typing`, because `python -m` could find another `typing` in the current directory.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.corpus import read_corpus, read_file
    from simdoc_search.documents import Document, DocumentKey
    from simdoc_search.duplicates import (
        Duplicate,
        Duplicates,
        Group,
        GroupedDocument,
        Pair,
        ShownHit,
        ShownVersion,
        fold_near_duplicates,
        fold_older_versions,
    )
    from simdoc_search.errors import (
        AmbiguousQueryError,
        CorpusError,
        DocumentError,
        FormatMismatchError,
        LocationError,
        MissingExtraError,
        NoFingerprintError,
        NoTextError,
        QuerySyntaxError,
        SimdocError,
        StoreError,
        StoreLockedError,
        StoreNotFoundError,
        StoreUnavailableError,
        UnknownDocumentError,
        UnknownFieldError,
        WriteRefusedError,
    )
    from simdoc_search.groups import Edge, Families, FamilyMembers, Topic, TopicMember, Topics
    from simdoc_search.indexing.report import IndexReport
    from simdoc_search.languages import language_of
    from simdoc_search.passages import (
        Comparison,
        Difference,
        Highlights,
        MarkedText,
        Passage,
    )
    from simdoc_search.passages.compare import compare
    from simdoc_search.passages.highlight import highlight
    from simdoc_search.search.async_similarity_search import AsyncSimilaritySearch
    from simdoc_search.search.concepts import ConceptsResult, ConceptWord
    from simdoc_search.search.nearest import NearestDuplicate
    from simdoc_search.search.passage_result import PassageHit, PassageResult
    from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConceptWord
    from simdoc_search.search.similar_result import Hit, SearchResult
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.search.version_order import VersionEntry, VersionFamily
    from simdoc_search.search.version_result import VersionHit, VersionsResult
    from simdoc_search.sketch import (
        Fingerprint,
        HashKey,
        MinHash,
        fingerprints,
    )
    from simdoc_search.sketch.fingerprint import fingerprint
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores import open_store
    from simdoc_search.stores.asynchronous import open_store_async
    from simdoc_search.stores.base import Store, StoreInfo
    from simdoc_search.stores.filters import any_of, none_of

__version__ = "0.1.0"

__all__ = [
    "AmbiguousQueryError",
    "Analysis",
    "AsyncSimilaritySearch",
    "Comparison",
    "ConceptWord",
    "ConceptsResult",
    "CorpusError",
    "Difference",
    "Document",
    "DocumentError",
    "DocumentKey",
    "Duplicate",
    "Duplicates",
    "Edge",
    "Explanation",
    "Families",
    "FamilyMembers",
    "Fingerprint",
    "FormatMismatchError",
    "Group",
    "GroupedDocument",
    "HashKey",
    "Highlights",
    "Hit",
    "IndexReport",
    "LocationError",
    "MarkedText",
    "MinHash",
    "MissingExtraError",
    "NearestDuplicate",
    "NoFingerprintError",
    "NoTextError",
    "Pair",
    "Passage",
    "PassageHit",
    "PassageResult",
    "QuerySyntaxError",
    "RelatedHit",
    "RelatedResult",
    "SearchResult",
    "Settings",
    "SharedConceptWord",
    "ShownHit",
    "ShownVersion",
    "SimdocError",
    "SimilaritySearch",
    "Store",
    "StoreError",
    "StoreInfo",
    "StoreLockedError",
    "StoreNotFoundError",
    "StoreUnavailableError",
    "Topic",
    "TopicMember",
    "Topics",
    "UnknownDocumentError",
    "UnknownFieldError",
    "VersionEntry",
    "VersionFamily",
    "VersionHit",
    "VersionsResult",
    "WriteRefusedError",
    "any_of",
    "compare",
    "fingerprint",
    "fingerprints",
    "fold_near_duplicates",
    "fold_older_versions",
    "highlight",
    "language_of",
    "none_of",
    "open_store",
    "open_store_async",
    "read_corpus",
    "read_file",
]

# Names are imported on first use, because an application that only builds queries needs few of them.
_NAMES_BY_MODULE = {
    "simdoc_search.analysis": "Analysis",
    "simdoc_search.corpus": "read_corpus read_file",
    "simdoc_search.documents": "Document DocumentKey",
    "simdoc_search.duplicates": (
        "Duplicate Duplicates Group GroupedDocument Pair ShownHit ShownVersion fold_near_duplicates fold_older_versions"
    ),
    "simdoc_search.errors": (
        "AmbiguousQueryError CorpusError DocumentError FormatMismatchError LocationError MissingExtraError "
        "NoFingerprintError NoTextError QuerySyntaxError SimdocError StoreError StoreLockedError "
        "StoreNotFoundError StoreUnavailableError UnknownDocumentError UnknownFieldError WriteRefusedError"
    ),
    "simdoc_search.groups": "Edge Families FamilyMembers Topic TopicMember Topics",
    "simdoc_search.indexing.report": "IndexReport",
    "simdoc_search.languages": "language_of",
    "simdoc_search.passages": "Comparison Difference Highlights MarkedText Passage",
    "simdoc_search.passages.compare": "compare",
    "simdoc_search.passages.highlight": "highlight",
    "simdoc_search.search.async_similarity_search": "AsyncSimilaritySearch",
    "simdoc_search.search.concepts": "ConceptsResult ConceptWord",
    "simdoc_search.search.nearest": "NearestDuplicate",
    "simdoc_search.search.passage_result": "PassageHit PassageResult",
    "simdoc_search.search.related_result": "Explanation RelatedHit RelatedResult SharedConceptWord",
    "simdoc_search.search.similar_result": "Hit SearchResult",
    "simdoc_search.search.similarity_search": "SimilaritySearch",
    "simdoc_search.search.version_order": "VersionEntry VersionFamily",
    "simdoc_search.search.version_result": "VersionHit VersionsResult",
    "simdoc_search.sketch": "Fingerprint HashKey MinHash fingerprints",
    "simdoc_search.sketch.fingerprint": "fingerprint",
    "simdoc_search.sketch.settings": "Settings",
    "simdoc_search.stores": "open_store",
    "simdoc_search.stores.asynchronous": "open_store_async",
    "simdoc_search.stores.base": "Store StoreInfo",
    "simdoc_search.stores.filters": "any_of none_of",
}
_MODULE_BY_NAME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name in _MODULE_BY_NAME:
        from importlib import import_module  # noqa: PLC0415 - rarely needed

        return getattr(import_module(_MODULE_BY_NAME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
