"""In which languages are documents that are in no store? Read and identified by worker processes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from simdoc_search.documents import FileSource, Skipped
from simdoc_search.indexing.preparation import Job, by_pool, chunks_of, document_of, name_of, share_of
from simdoc_search.indexing.stream import Source
from simdoc_search.languages import Identification, declared_language, identify, require_identifier
from simdoc_search.workers import Begin, Limits, WorkerPool

_Found = tuple[int, str, Identification] | Skipped
"""Bytes, name and language of a document."""


@dataclass(slots=True)
class LanguageReport:
    """In which languages documents are.

    Attributes:
        languages: how many documents are in each; see `language_of`.
        each: the path or id of each document, and what was identified; without candidates if its metadata says it.
        bytes: size of the files that were read, and of the texts that came otherwise, in UTF-8.
        skipped: what gave no document.
        seconds: how long it took, the start of the workers included.
    """

    languages: Counter[str] = field(default_factory=Counter)
    each: list[tuple[str, Identification]] = field(default_factory=list)
    bytes: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    seconds: float = 0.0


def identify_documents(
    sources: Iterable[Source],
    *,
    workers: int,
    limits: Limits,
    progress: Callable[[int], None] = lambda _: None,
) -> LanguageReport:
    """Read documents and identify the language of each that does not say it in its metadata.

    Args:
        sources: what is read.
        workers: processes that read.
        limits: what a file may cost.
        progress: is told how many more are done.

    Raises:
        MissingExtraError: the package for it is not installed.
    """
    require_identifier()
    began, report = time.monotonic(), LanguageReport()
    pool = WorkerPool(workers, _identify, lambda job, reason: Skipped(name_of(job.source), reason), limits)
    with closing(by_pool(chunks_of(_jobs(sources, report)), pool, 2 * workers)) as chunks:
        for chunk in chunks:
            for found in chunk:
                if isinstance(found, Skipped):
                    report.skipped.append(found)
                else:
                    size, name, said = found
                    report.bytes += size
                    report.languages[said.language] += 1
                    report.each.append((name, said))
            progress(len(chunk))
    report.seconds = time.monotonic() - began
    return report


def _jobs(sources: Iterable[Source], report: LanguageReport) -> Iterator[Job]:
    for each in sources:
        if isinstance(each, Skipped):
            report.skipped.append(each)
        else:
            yield Job(each, None)


def _identify(jobs: Sequence[Job], begin: Begin) -> list[_Found]:
    """What a worker does with a chunk."""
    found: list[_Found] = []
    for place, job in enumerate(jobs):
        begin(place, share_of(job))
        document = document_of(job)
        if isinstance(document, Skipped):
            found.append(document)
            continue
        size = job.source.size if isinstance(job.source, FileSource) else len(document.text.encode("utf-8", "replace"))
        said = declared_language(document.metadata)
        found.append((size, name_of(job.source), Identification(said, []) if said else identify(document.text)))
    begin(None)
    return found
