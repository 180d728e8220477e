"""Find documents that share text: near-duplicates, reused passages, versions.

Documents in:   text -> words -> shingles -> fingerprint -> tokens -> store
Questions out:  "doc123_20_80" -> query -> plan -> store -> candidates -> hits

errors.py      what can go wrong?
display.py     how is shown what others wrote?
tracing.py     what does an application see of us in its traces?
durable.py     how does a file survive a crash or a full disk?
small_files.py how are settings, stop words and other small files read?
cancellation.py how does work end that nobody waits for?
documents.py   what do all rooms share?
workers/       who reads what may crash, hang or take all memory?
corpus/        where do documents come from?
languages.py   identification of languages
analysis/      what is compared?            text to words to shingles
chunks/        which parts of a text are compared one by one?
sketch/        what is kept of a text?      shingles to fingerprint to tokens
query/         what is asked?               FINGERPRINT string to plan to engine JSON; pure, for embedding
passages/      what do two texts share?
concepts/      what is a text about?
stores/        where is it kept?            records in, candidates out; local/ or remote/
indexing/      how do documents get into a store?
attach/        how do fingerprints get into an index that an application owns?
duplicates/    which documents could go, each for one that stays?
groups/        which documents of the whole collection belong together?
versions/      which is the newest, and what is about the same?
tuning/        which settings fit these documents?
search/        the whole way
as_json/       what does a program read?
web/           the collection in a browser
devengine/     a real engine on this machine, for trying out and for tests
cli/           the command line
"""

TYPE_CHECKING = False  # without an import: what `python -m` imports before __main__.py may lie where the user stands
if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.corpus import read_corpus
    from simdoc_search.documents import Document, Place
    from simdoc_search.duplicates import (
        Duplicate,
        Duplicates,
        FoldedHit,
        Group,
        Kept,
        Pair,
        fold_near_duplicates,
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
    from simdoc_search.indexing import IndexReport
    from simdoc_search.languages import language_candidates, language_of
    from simdoc_search.passages import (
        Comparison,
        Difference,
        Highlights,
        Marked,
        Passage,
    )
    from simdoc_search.passages.compare import compare
    from simdoc_search.passages.highlight import highlight
    from simdoc_search.search import (
        AsyncSimilaritySearch,
        ConceptsResult,
        DocumentConcept,
        Explanation,
        Hit,
        NearestDuplicate,
        PassageHit,
        PassageResult,
        RelatedHit,
        RelatedResult,
        SearchResult,
        SharedConcept,
        SimilaritySearch,
        VersionEntry,
        VersionFamily,
        VersionHit,
        VersionsResult,
    )
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

    __version__: str

__all__ = [
    "AmbiguousQueryError",
    "Analysis",
    "AsyncSimilaritySearch",
    "Comparison",
    "ConceptsResult",
    "CorpusError",
    "Difference",
    "Document",
    "DocumentConcept",
    "DocumentError",
    "Duplicate",
    "Duplicates",
    "Edge",
    "Explanation",
    "Families",
    "FamilyMembers",
    "Fingerprint",
    "FoldedHit",
    "FormatMismatchError",
    "Group",
    "HashKey",
    "Highlights",
    "Hit",
    "IndexReport",
    "Kept",
    "LocationError",
    "Marked",
    "MinHash",
    "MissingExtraError",
    "NearestDuplicate",
    "NoFingerprintError",
    "NoTextError",
    "Pair",
    "Passage",
    "PassageHit",
    "PassageResult",
    "Place",
    "QuerySyntaxError",
    "RelatedHit",
    "RelatedResult",
    "SearchResult",
    "Settings",
    "SharedConcept",
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
    "highlight",
    "language_candidates",
    "language_of",
    "none_of",
    "open_store",
    "open_store_async",
    "read_corpus",
]

# Imported when first used: an application that embeds the query builder needs little of it.
_NAMES = {
    "simdoc_search.analysis": "Analysis",
    "simdoc_search.corpus": "read_corpus",
    "simdoc_search.documents": "Document Place",
    "simdoc_search.duplicates": "Duplicate Duplicates FoldedHit Group Kept Pair fold_near_duplicates",
    "simdoc_search.errors": (
        "AmbiguousQueryError CorpusError DocumentError FormatMismatchError LocationError MissingExtraError "
        "NoFingerprintError NoTextError QuerySyntaxError SimdocError StoreError StoreLockedError "
        "StoreNotFoundError StoreUnavailableError UnknownDocumentError UnknownFieldError WriteRefusedError"
    ),
    "simdoc_search.groups": "Edge Families FamilyMembers Topic TopicMember Topics",
    "simdoc_search.indexing": "IndexReport",
    "simdoc_search.languages": "language_candidates language_of",
    "simdoc_search.passages": "Comparison Difference Highlights Marked Passage",
    "simdoc_search.passages.compare": "compare",
    "simdoc_search.passages.highlight": "highlight",
    "simdoc_search.search": (
        "AsyncSimilaritySearch ConceptsResult DocumentConcept Explanation Hit NearestDuplicate PassageHit "
        "PassageResult RelatedHit RelatedResult SearchResult SharedConcept SimilaritySearch VersionEntry "
        "VersionFamily VersionHit VersionsResult"
    ),
    "simdoc_search.sketch": "Fingerprint HashKey MinHash fingerprints",
    "simdoc_search.sketch.fingerprint": "fingerprint",
    "simdoc_search.sketch.settings": "Settings",
    "simdoc_search.stores": "open_store",
    "simdoc_search.stores.asynchronous": "open_store_async",
    "simdoc_search.stores.base": "Store StoreInfo",
    "simdoc_search.stores.filters": "any_of none_of",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name in _PLACES:
        from importlib import import_module  # noqa: PLC0415 - only on this way

        return getattr(import_module(_PLACES[name]), name)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - the same

        return version("simdoc-search")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
