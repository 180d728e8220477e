"""Find documents that share text: near-duplicates, reused passages, versions.

Documents in:   text -> words -> shingles -> fingerprint -> tokens -> store
Questions out:  "doc123_20_80" -> query -> plan -> store -> candidates -> hits

errors.py      what can go wrong?
showing.py     how is shown what others wrote?
tracing.py     what does an application see of us in its traces?
durable.py     how does a file survive a crash or a full disk?
small_files.py how are settings, stop words and other small files read?
stopping.py    how does work end that nobody waits for?
documents.py   what do all rooms share?
workers/       who reads what may crash, hang or take all memory?
corpus/        where do documents come from?
languages/     in which language is a text?
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
    from simdoc_search.duplicates import fold_near_duplicates
    from simdoc_search.errors import SimdocError
    from simdoc_search.indexing import IndexReport
    from simdoc_search.passages import Comparison, Highlights, Marked, Passage, compare, highlight
    from simdoc_search.search import (
        AsyncSimilaritySearch,
        Hit,
        PassageResult,
        SearchResult,
        SimilaritySearch,
        VersionsResult,
    )
    from simdoc_search.sketch import Fingerprint, MinHash, fingerprint, fingerprints
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores import open_store
    from simdoc_search.stores.asynchronous import open_store_async
    from simdoc_search.stores.filters import any_of, none_of

    __version__: str

__all__ = [
    "Analysis",
    "AsyncSimilaritySearch",
    "Comparison",
    "Document",
    "Fingerprint",
    "Highlights",
    "Hit",
    "IndexReport",
    "Marked",
    "MinHash",
    "Passage",
    "PassageResult",
    "Place",
    "SearchResult",
    "Settings",
    "SimdocError",
    "SimilaritySearch",
    "VersionsResult",
    "any_of",
    "compare",
    "fingerprint",
    "fingerprints",
    "fold_near_duplicates",
    "highlight",
    "none_of",
    "open_store",
    "open_store_async",
    "read_corpus",
]

# Imported when first used: an application that embeds the query builder needs little of it.
_PLACES = {
    "Analysis": "simdoc_search.analysis",
    "AsyncSimilaritySearch": "simdoc_search.search",
    "Comparison": "simdoc_search.passages",
    "Document": "simdoc_search.documents",
    "Fingerprint": "simdoc_search.sketch",
    "Highlights": "simdoc_search.passages",
    "Hit": "simdoc_search.search",
    "IndexReport": "simdoc_search.indexing",
    "Marked": "simdoc_search.passages",
    "MinHash": "simdoc_search.sketch",
    "Passage": "simdoc_search.passages",
    "PassageResult": "simdoc_search.search",
    "Place": "simdoc_search.documents",
    "SearchResult": "simdoc_search.search",
    "SimdocError": "simdoc_search.errors",
    "Settings": "simdoc_search.sketch.settings",
    "SimilaritySearch": "simdoc_search.search",
    "VersionsResult": "simdoc_search.search",
    "any_of": "simdoc_search.stores.filters",
    "compare": "simdoc_search.passages",
    "fingerprint": "simdoc_search.sketch",
    "fingerprints": "simdoc_search.sketch",
    "fold_near_duplicates": "simdoc_search.duplicates",
    "highlight": "simdoc_search.passages",
    "none_of": "simdoc_search.stores.filters",
    "open_store": "simdoc_search.stores",
    "open_store_async": "simdoc_search.stores.asynchronous",
    "read_corpus": "simdoc_search.corpus",
}


def __getattr__(name: str) -> object:
    if name in _PLACES:
        from importlib import import_module  # noqa: PLC0415 - only on this way

        return getattr(import_module(_PLACES[name]), name)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - the same

        return version("simdoc-search")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
