"""Where do documents come from?

document.py  what does a corpus yield?
read.py      which of the paths that a person names is read how?
folder.py    which files does a folder hold?
load.py      what is the text of this file?
decode.py    how do its bytes become text?
legacy.py    in which encoding from before Unicode is it written?
html.py      what is the text of an HTML page?
formats.py   what is the text of a PDF, a Word document, an e-mail?
tables.py    which documents do the rows of a CSV or Parquet table hold?
jsonl.py     which documents do the lines of a JSONL file hold?
"""

from simdoc_search.corpus.document import Document, FileSource, MetadataValue, Skipped, check_id
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, find_files
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.load import load, read_text, read_text_stream
from simdoc_search.corpus.read import read_corpus

__all__ = [
    "DEFAULT_MAX_BYTES",
    "Document",
    "FileSource",
    "MetadataValue",
    "Skipped",
    "check_id",
    "find_files",
    "load",
    "read_corpus",
    "read_jsonl",
    "read_text",
    "read_text_stream",
]
