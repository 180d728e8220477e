"""Reads documents from folders, files, archives, tables and standard input."""

from simdoc_search.corpus.changes import changed_files
from simdoc_search.corpus.file_reader import read_bytes, read_file, read_sources, read_text_stream
from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, find_files
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.reader import has_several_documents, read_corpus
from simdoc_search.documents import Document, MetadataValue, SkippedFile, check_id

__all__ = [
    "DEFAULT_MAX_BYTES",
    "Document",
    "FileSource",
    "MetadataValue",
    "SkippedFile",
    "Source",
    "changed_files",
    "check_id",
    "find_files",
    "has_several_documents",
    "read_bytes",
    "read_corpus",
    "read_file",
    "read_jsonl",
    "read_sources",
    "read_text_stream",
]
