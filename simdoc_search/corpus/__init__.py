"""Where do documents come from?

paths.py     which of the paths that a person names is read how?
folder.py    which files does a folder hold?
changes.py   which of those that changed?
exclusion.py which are left out by their names?
load.py      what is the text of this file?
text_reader.py what are the texts of all of them?
decode.py    how do its bytes become text?
legacy_encodings.py in which encoding from before Unicode is it written?
html.py      what is the text of an HTML page?
formats.py   what is the text of a PDF, a Word document, an e-mail?
text_filters.py what of a file is no part of its text?
tables.py    which documents do the rows of a CSV or Parquet table hold?
members.py   what does an archive or a mailbox hold?
member_names.py  and what is that called?
mailbox.py   where does a message in a mailbox begin?
jsonl.py     which documents do the lines of a JSONL file hold?
"""

from simdoc_search.corpus.changes import changed_files
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, find_files
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.load import read_bytes, read_file, read_text, read_text_stream
from simdoc_search.corpus.paths import holds_several, read_corpus
from simdoc_search.corpus.text_reader import read_sources
from simdoc_search.documents import Document, FileSource, MetadataValue, Skipped, check_id

__all__ = [
    "DEFAULT_MAX_BYTES",
    "Document",
    "FileSource",
    "MetadataValue",
    "Skipped",
    "changed_files",
    "check_id",
    "find_files",
    "holds_several",
    "read_bytes",
    "read_corpus",
    "read_file",
    "read_jsonl",
    "read_sources",
    "read_text",
    "read_text_stream",
]
