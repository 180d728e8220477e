"""Identifies the languages of documents, without a store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.documents import SkippedFile
from simdoc_search.indexing.jobs import Job, map_jobs, read_document
from simdoc_search.languages import LanguageIdentification, declared_language, identify_language, require_language_model
from simdoc_search.workers import BeginItem, ItemLimits

_Detection = tuple[int, str, LanguageIdentification] | SkippedFile  # size in bytes, name and language of a document


@dataclass(slots=True)
class LanguageReport:
    """The languages of documents."""

    languages: Counter[str] = field(default_factory=Counter)  # number of documents per language; see `language_of`
    # path or id of each document, and its language. If the language is from the metadata, `candidates` is empty.
    documents: list[tuple[str, LanguageIdentification]] = field(default_factory=list)
    byte_count: int = 0  # total size in bytes. A document that is not a file counts with the size of its text in UTF-8.
    skipped_files: list[SkippedFile] = field(default_factory=list)  # the sources that were skipped
    seconds: float = 0.0  # duration, including the start of the workers


def identify_documents(
    sources: Iterable[Source],
    *,
    workers: int,
    limits: ItemLimits,
    progress: Callable[[int], None] = lambda _: None,
) -> LanguageReport:
    """Read documents and identify their languages. A language in the metadata takes precedence.

    A small number of documents is read in this process. `progress` is called with the number of documents that were
    finished since the last call.

    Raises:
        MissingExtraError: the package that identifies languages is not installed.
    """
    require_language_model()
    start, report = time.monotonic(), LanguageReport()
    jobs = (Job(source, None) for source in sources)
    with closing(map_jobs(jobs, _identify, _skip, workers, limits)) as chunks:
        for chunk in chunks:
            for detection in chunk:
                if isinstance(detection, SkippedFile):
                    report.skipped_files.append(detection)
                else:
                    size, name, identification = detection
                    report.byte_count += size
                    report.languages[identification.language] += 1
                    report.documents.append((name, identification))
            progress(len(chunk))
    report.seconds = time.monotonic() - start
    return report


def _skip(job: Job, reason: str) -> _Detection:
    return SkippedFile(job.name, reason)


def _identify(jobs: Sequence[Job], begin_item: BeginItem, *, allow_risky: bool = True) -> list[_Detection]:
    detections: list[_Detection] = []
    for index, job in enumerate(jobs):
        begin_item(index, job.time_share)
        document = read_document(job, allow_risky=allow_risky)
        if isinstance(document, SkippedFile):
            detections.append(document)
            continue
        size = job.source.size if isinstance(job.source, FileSource) else len(document.text.encode("utf-8", "replace"))
        language = declared_language(document.metadata)
        identification = LanguageIdentification(language, []) if language else identify_language(document.text)
        detections.append((size, job.name, identification))
    begin_item(None)
    return detections
