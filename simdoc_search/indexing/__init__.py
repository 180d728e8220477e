"""How do documents get into a store?

run.py         from the first source to the report
decisions.py   what must be read, what is written, what is removed
stream.py      where do the sources go on when one of them breaks?
gate.py        who may come in?
preparation.py how does a document become a record?
roots.py       which id does a file have, of which root?
seen.py        what is remembered of each id?
archives.py    which archives are looked into, and which are stored whole?
watcher.py     what changes in folders, and what is gone then?
pruning.py     which documents may go, as their files are gone?
skip_reasons.py what does it mean that a file was skipped?
report.py      what did a run do?
language_detection.py in which languages are documents that are in no store?
deletion.py    how does a document get out?
"""

from simdoc_search.indexing.deletion import delete_documents
from simdoc_search.indexing.gate import Gate
from simdoc_search.indexing.language_detection import LanguageReport, identify_documents
from simdoc_search.indexing.report import IndexReport
from simdoc_search.indexing.run import FILE_TIMEOUT, index_documents
from simdoc_search.indexing.stream import Source, going_on

__all__ = [
    "FILE_TIMEOUT",
    "Gate",
    "IndexReport",
    "LanguageReport",
    "Source",
    "delete_documents",
    "going_on",
    "identify_documents",
    "index_documents",
]
