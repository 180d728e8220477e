"""Hints and notes after the groups of `simdoc-search duplicates`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simdoc_search.cli.common import left_out_lines, renewal_advice
from simdoc_search.display import command_line, format_count, quote_command, safe_message
from simdoc_search.duplicates.document_arrays import NO_FINGERPRINT, TEXT_CHANGED
from simdoc_search.duplicates.omissions import (
    describe_skipped_comparisons,
    describe_unlisted_documents,
    list_left_out_documents,
)

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates
    from simdoc_search.stores.base import Store

_MAX_FOLDERS, _MAX_SEARCHED_GROUPS = 5, 20


def hint_lines(
    result: Duplicates, store: Store, location: str, folders: Iterable[str], *, keep: str, has_overlap: bool
) -> Iterator[str]:
    """Yield what to do next: with the copies, or to find less similar documents and files without text.

    `has_overlap` says whether the user set the minimum overlap.
    """
    if result.group_count:
        # Documents of an application have no files that could be moved.
        advice = "to move copies away, add --plan plan.tsv"
        if not store.is_simdoc_index:
            advice = "to hide duplicates from search results, add --mark"
        yield f"{advice}; to see all differences, add --html page.html"
    groups = result.groups(_MAX_SEARCHED_GROUPS) if keep in ("newest", "oldest") else ()
    near = (group.kept.id for group in groups if any(duplicate.kind == "near" for duplicate in group.duplicates))
    if id := next(near, ""):
        command = command_line(location, "versions", id)
        yield f"--keep {keep} uses one date of each document; to see all evidence about a document, run: {command}"
    if not has_overlap and (result.kind_counts["near"] or not result.group_count):
        versions = f"; to find versions, run: {command_line(location, 'versions', '--all')}"
        yield f"to find less similar documents, add --overlap 50{versions if store.is_simdoc_index else ''}"
    missing_roots = result.missing_roots
    roots = [root for root in result.roots if root not in missing_roots]
    if roots and not folders:
        command = command_line(location, "duplicates", *(roots if len(roots) <= _MAX_FOLDERS else ["FOLDER"]))
        yield f"note: files without text, such as photos, were not compared. To compare their bytes, run: {command}"


def note_lines(result: Duplicates, store: Store, location: str, *, is_estimate_requested: bool) -> Iterator[str]:
    """Yield sentences about documents that were not compared, and about overlaps that were only estimated."""
    if result.new_document_count < result.document_count and result.group_count:
        new_documents_were = format_count(result.new_document_count, "new document was", "new documents were")
        yield f"{new_documents_were} compared with all {result.document_count:,} documents; older documents are kept"
    if not result.verified:
        why = "--estimate is set" if is_estimate_requested else "the index has no texts"
        yield (
            f"overlaps are estimated from the fingerprints, because {why}; pairs near the minimum overlap may be wrong "
            "or missing"
        )
    if result.undescribed_count:
        compare = command_line(location, "compare", "KEPT", "OTHER")
        near = format_count(result.undescribed_count, "near duplicate")
        yield f"the differences of {near} are not listed; see them with: {compare}"
    yield from describe_skipped_comparisons(result)
    if unlisted := describe_unlisted_documents(result):
        yield f"{unlisted}; --csv FILE writes all pairs"
    if result.ignored_word_count:
        words_were = format_count(result.ignored_word_count, "word was", "words were")
        yield f"{words_were} not counted in the compared texts, because of --ignore"
    for root, count in result.missing_files.items():
        command = command_line(location, "index", root, "--prune")
        documents = format_count(count, "document")
        yield (
            f"left out: {documents} in {root} whose file no longer exists. To remove such documents from the index, "
            f"run: {command}"
        )
    for root in result.missing_roots[:_MAX_FOLDERS]:
        command = command_line(location, "index", root, "--prune-all")
        yield f"{root} does not exist here. If it was deleted, remove its documents from the index with: {command}"
    yield from _left_out_lines(result, store, location)


def _left_out_lines(result: Duplicates, store: Store, location: str) -> Iterator[str]:
    """Yield the documents that cannot be compared, except those whose files no longer exist.

    A sentence about texts whose words are not split comes first.
    """
    if note := result.describe_unsplit_texts():
        yield note
    others = list_left_out_documents(result)
    yield from left_out_lines([f"{key.id!r}: {reason}" for key, reason in others])
    if changed := sum(reason == TEXT_CHANGED for _, reason in others):
        documents = format_count(changed, "document")
        yield f"{documents} changed after indexing; {renewal_advice(store)}"
    if without := sum(reason == NO_FINGERPRINT for _, reason in others):
        documents_have = format_count(without, "document has", "documents have")
        command = quote_command("status", safe_message(location))
        yield f"{documents_have} no fingerprint; this command says whether they need one: {command}"
