"""Describes what a search for duplicates did not compare, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Iterator

from simdoc_search.display import format_count, list_examples
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE

_MAX_NAMED_DOCUMENTS = 3


def describe_skipped_comparisons(result: Duplicates) -> Iterator[str]:
    """Yield sentences, without full stops, about overlaps that are estimated or were not computed."""
    if result.unverified_count:
        overlaps_are = format_count(result.unverified_count, "overlap is", "overlaps are")
        yield f"{overlaps_are} estimated, because texts are missing"
    if result.large_sets:
        documents_are = format_count(result.large_sets.document_count, "document is", "documents are")
        limit = result.large_sets.max_set_size
        yield f"{documents_are} similar to more than {limit:,} others; each was compared with only a few of them"
        if skipped := result.large_sets.skipped_comparison_count:
            comparisons_were = format_count(skipped, "comparison was", "comparisons were")
            yield (
                f"up to {comparisons_were} skipped for documents with more than {limit:,} similar documents, so some "
                "of their duplicates may not be listed"
            )


def describe_unlisted_documents(result: Duplicates) -> str:
    """Return a sentence, without a full stop, about similar documents in no group. It is empty if there are none."""
    unlisted, are_all = result.find_unlisted_documents()
    if not unlisted:
        return ""
    documents_are = format_count(len(unlisted), "document is", "documents are")
    they_overlap = "it overlaps" if len(unlisted) == 1 else "they overlap"
    at_least = "" if are_all else "at least "
    reason = f"because {they_overlap} only duplicates, not the kept document"
    names = list_examples([key.id for key in unlisted], _MAX_NAMED_DOCUMENTS)
    return f"{at_least}{documents_are} in no group, {reason}: {names}"


def list_left_out_documents(result: Duplicates) -> list[tuple[DocumentKey, str]]:
    """Return the documents that were not compared, with the reasons, except those whose files no longer exist."""
    return [(key, reason) for key, reason in result.left_out.items() if reason not in (FILE_GONE, ARCHIVE_GONE)]
