"""Output of `simdoc-search versions` for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from simdoc_search.display import (
    command_line,
    describe_compared_documents,
    describe_shown_hits,
    format_count,
    format_more_hits_hint,
)
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT

if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.documents import DocumentKey
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.search.version_order import VersionEntry
    from simdoc_search.search.version_result import VersionsResult


def read_version_texts(search: SimilaritySearch, result: VersionsResult) -> dict[DocumentKey | None, str]:
    """Map the keys of the entries to their texts, as far as available. The key of a query text is None."""
    from simdoc_search.search.stored_texts import read_texts

    keys = [entry.key for entry in result.entries if entry.key is not None]
    texts: dict[DocumentKey | None, str] = dict(read_texts(search.store, keys).items())
    if result.text is not None:
        texts[next(entry.key for entry in result.entries if entry.is_query)] = result.text
    return texts


def find_symbolic_links(search: SimilaritySearch, result: VersionsResult) -> set[DocumentKey | None]:
    """Return the keys of the entries whose files are symbolic links."""
    from simdoc_search.duplicates.paths import SYMBOLIC_LINK, find_file_problem
    from simdoc_search.search.stored_texts import read_records

    keys = [entry.key for entry in result.entries if entry.key is not None]
    records = read_records(search.store, keys)
    return {key for key, record in records.items() if find_file_problem(record) == SYMBOLIC_LINK}


def version_lines(
    result: VersionsResult, query_id: str | None, store: str, links: Collection[DocumentKey | None] = frozenset()
) -> Iterator[str]:
    """Yield the timeline, the evidence, the counts, and the next commands to run.

    `query_id` is the id of the query file if it is indexed, otherwise None. The commands do not name symbolic links if
    another file has the same words.
    """
    if result.hits:
        order = "" if result.have_equal_texts else ", oldest first"
        yield f"{'':>{result.date_width}}{'similar sentences':>17}{'changed':>20}  document{order}"
        yield from result.timeline_lines()
        yield f"order: {result.order_description}"
        yield from result.evidence_lines()
    yield from count_lines(result)
    if result.loosely_similar_count:
        documents = format_count(result.loosely_similar_count, "document")
        yield f"to see {documents} with more changes in each sentence or row, add --max-distance {MAX_DISTANCE_LIMIT}"
    if query_id is not None:
        yield f"Your file is in the index as {query_id!r}. It is listed once, as your document."
    undecided = result.undecided if result.undecided and result.undecided.newest_evidence_kinds else None
    names = _find_last_changed_versions(result, links)
    if undecided:
        names = [names[-1] if names[-1] == result.query_name else undecided.earlier, undecided.later]
    if len(set(names) - {""}) == 2 and not result.have_equal_texts:
        purpose = "how these two differ" if undecided else "the last change"
        yield f"to see {purpose}, run: {command_line(store, 'compare', *names)}"
    if result.newest is not None and _may_lack_later_versions(result):
        command = command_line(store, "versions", result.newest.name)
        source = result.query_name or "the text"
        yield (
            f"some later versions may not be listed, because they have too little in common with {source}. Find later "
            f"versions with: {command}"
        )


def _may_lack_later_versions(result: VersionsResult) -> bool:
    """Return whether the newest version differs so much from the query that a later version may not be found.

    This is so if the smaller of their shares of similar sentences is less than halfway from `min_share` to 1.
    """
    newest = next((hit for hit in result.hits if hit.entry is result.newest), None)
    return newest is not None and min(newest.share, newest.share_of_hit) < (1 + result.thresholds.min_share) / 2


def _find_last_changed_versions(result: VersionsResult, links: Collection[DocumentKey | None]) -> list[str]:
    """Return the names of the last two successive versions with different words, or else of the last two versions.

    If several successive versions have the same words, a file is preferred to a link, then the query document to the
    others, then a file to a copy such as an attachment.
    """
    from simdoc_search.duplicates.copy_names import count_copy_names

    runs: list[list[VersionEntry]] = []  # successive versions with the same words
    for entry in result.timeline:
        if not runs or (entry.changes and (entry.changes.added_word_count or entry.changes.removed_word_count)):
            runs.append([])
        runs[-1].append(entry)
    if len(runs) < 2:
        last = result.timeline[-2:]
        query = [entry for entry in result.timeline if entry.is_query and entry not in last]
        return [entry.name for entry in (*query, *last[-2 + len(query) :])]
    nearest_first = (reversed(runs[-2]), runs[-1])

    def rank(entry: VersionEntry) -> tuple[bool, bool, int]:
        is_named_query = entry.is_query and bool(entry.name)
        return entry.key in links, not is_named_query, count_copy_names(entry.name)

    return [min(run, key=rank).name for run in nearest_first]


def count_lines(result: VersionsResult) -> Iterator[str]:
    """Yield the counts, and how many texts changed since they were indexed."""
    yield _counts(result)
    if result.text_note:
        yield result.text_note
    if changed := result.changed + sum(hit.changed for hit in result.hits):
        yield f"{format_count(changed, 'text')} changed since indexing; words are counted in the current texts"


def _counts(result: VersionsResult) -> str:
    counts = (format_count(result.total, "other version") if result.total else "no other version") + ", "
    if result.total > len(result.hits):
        more = format_more_hits_hint(len(result.hits), result.total)
        counts = f"{describe_shown_hits(len(result.hits), result.total, singular='other version')}.{more} "
    counts += describe_compared_documents(result.compared_count, result.candidate_count)
    if result.candidate_source != "sentences":
        counts += f", found by {result.candidate_source}"
    sentences, queried = result.sentence_count, result.queried_sentence_count
    searched = f"; {queried:,} of the {sentences:,} sentences in the query document were searched for"
    return counts + searched if queried < sentences else counts


def sentence_lines(
    result: VersionsResult, texts: Mapping[DocumentKey | None, str], analysis: Analysis
) -> Iterator[str]:
    """Yield the similar sentences of each version. If the two sentences of a pair differ, both are shown."""
    from simdoc_search.passages.positions import TextPositions
    from simdoc_search.passages.summary import excerpt
    from simdoc_search.versions import sentence_pairs

    for hit in result.hits:
        text = texts.get(hit.key)
        yield ""
        if result.text is None or text is None:
            yield f"{hit.id}: the similar sentences cannot be shown, because one of the texts is not stored"
            continue
        pairs = sentence_pairs(result.text, text, analysis, result.thresholds.max_distance)
        sentences_are = format_count(len(pairs), "sentence is", "sentences are")
        yield f"{hit.id}: {sentences_are} equal or similar to sentences of {result.query_name or 'the text'}"
        query_positions, hit_positions = TextPositions(result.text), TextPositions(text)
        for pair in pairs:
            query_sentence, hit_sentence = result.text[slice(*pair.a)], text[slice(*pair.b)]
            kind = "similar" if pair.distance else "equal"
            yield f"{kind:>8}  {query_positions.label(pair.a[0])} → {hit_positions.label(pair.b[0])}"
            yield f"{'':>10}“{excerpt(query_sentence)}”"
            if query_sentence.split() != hit_sentence.split():
                yield f"{'':>10}“{excerpt(hit_sentence)}”"
