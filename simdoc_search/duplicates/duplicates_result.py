"""The result of a search for duplicates: groups and pairs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.display import format_estimate, format_percent
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.duplicates.arrays import Bools, Floats, Ints, run_starts, slices
from simdoc_search.duplicates.clusters import UNASSIGNED, SameWordsSets
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.group_membership import GroupMembership
from simdoc_search.duplicates.keep_order import TimeWritten, WrittenDocument
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.plan.rows import Action
from simdoc_search.duplicates.same_words import describe_character_changes
from simdoc_search.duplicates.verdicts import DUPLICATE_KINDS, DropScope, DuplicateKind, Verdict, Verdicts, reason_for
from simdoc_search.duplicates.verification import PairOverlaps, ReadTexts
from simdoc_search.passages.compare import compare
from simdoc_search.passages.dates import format_day
from simdoc_search.passages.difference_summary import summarise_differences
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.unsplit_text import describe_overlaps_of_text
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import LeftOutIndex

_PAIRS_AT_ONCE = 1 << 11
_PAIRS_IN_MEMORY, _MAX_UNLISTED_PAIRS = 1 << 20, 1000
_TEXT_PAIRS_AT_ONCE, _GROUPS_AT_ONCE = 20, 20

_MAX_SAMPLED_TEXTS = 20
"""Maximum number of texts that are searched for languages whose words are not split."""

_MAX_TOTAL_COMPARED_CHARACTERS, _MIN_CHARACTERS_PER_PAIR = 10_000_000, 10_000
"""Near duplicates are compared with their kept documents, up to a total of 10 million characters.

A pair counts as at least 10,000 characters. So at most 1,000 pairs are compared, which takes a few seconds.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that overlap enough.

    Attributes:
        a: key of the document that would be kept.
        b: key of the other document.
        overlap: overlap by the chosen measure, 0..1.
        kind: `identical`, `hard link`, `same text`, `same words` or `near`.
        exact: whether the overlap was computed from the texts. Otherwise it is estimated from the fingerprints.
    """

    a: DocumentKey
    b: DocumentKey
    overlap: float
    kind: DuplicateKind
    exact: bool


@dataclass(frozen=True, slots=True)
class GroupedDocument(HasDocumentKey):
    """A document of a group.

    Attributes:
        key: key of the document in the store.
        size: size of the file in bytes; None if the document has no file, or is in an archive.
        mtime_ns: modification time of the file in nanoseconds since 1970; None if the document has no file.
        written: the date by which `newest` or `oldest` chooses the kept document, such as `2020-05-31`, or `2020` if
            only the year is known; None if it is unknown or if another rule chooses.
        path: path of the file, which may be in an archive; None if the document has no file.
        indexed: whether the document is in the store. Otherwise it is an archive or a file without text, whose bytes
            were compared.
        number: index of the document in this search.
    """

    key: DocumentKey
    size: int | None
    mtime_ns: int | None
    written: str | None
    path: str | None
    indexed: bool
    number: int = field(repr=False, compare=False)

    @property
    def archive(self) -> str | None:
        """The path of the archive or mailbox that contains the document; None if it is not in one."""
        return find_archive(self.path) if self.path is not None and self.size is None else None


@dataclass(frozen=True, slots=True)
class Duplicate(GroupedDocument):
    """A document of a group that is not the kept one, and the action that a plan proposes.

    Attributes:
        overlap: overlap with the kept document, as in `Pair`; 1 if both are `identical`.
        kind: what the document has in common with `duplicate_of`, as in `Pair`.
        exact: whether the overlap was computed from the texts.
        action: `drop`, or `decide` if the user has to decide.
        reason: a short reason for the action.
        freed_bytes: bytes that this document contributes to the space freed by the whole plan. Hard links to one file
            are counted once.
        duplicate_of: key of the document that this one duplicates: the kept one of the group, or a more similar one.
    """

    overlap: float
    kind: DuplicateKind
    exact: bool
    action: Action
    reason: str
    freed_bytes: int
    duplicate_of: DocumentKey


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document, and its duplicates. Each duplicate overlaps the kept document itself.

    Attributes:
        kept: the kept document.
        duplicates: the duplicates, ordered by kind from `identical` to `near`, then by descending overlap.
    """

    kept: GroupedDocument
    duplicates: tuple[Duplicate, ...]

    @property
    def freed_bytes(self) -> int:
        """Bytes freed by deleting all duplicates in the group that the plan drops."""
        return sum(duplicate.freed_bytes for duplicate in self.duplicates)


@dataclass(frozen=True, slots=True)
class LargeSets:
    """Sets of similar documents in which not all pairs were compared, because the sets are too large.

    Attributes:
        document_count: number of documents in these sets. It includes copies with the same text. These are always
            found.
        max_set_size: maximum size of a set in which all pairs are compared. In a larger set, each document is only
            compared with a few others.
        skipped_comparison_count: upper bound of the number of comparisons that were not made. It counts some pairs more
            than once, and also pairs that were compared because of another band.
    """

    document_count: int
    max_set_size: int
    skipped_comparison_count: int


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups of all documents. Arrays have one value per document."""

    kept_document_of: Ints  # the kept document of each duplicate; UNASSIGNED for all other documents
    overlaps: Floats  # overlap of each duplicate with its kept document
    is_overlap_exact: Bools  # whether the overlap was computed from the texts, not estimated
    same_words_sets: SameWordsSets  # sets of documents with equal words
    pairs: PairOverlaps  # the pairs of representatives of these sets
    max_set_size: int  # maximum size of a set of similar documents in which all pairs are compared
    large_sets: LargeSets | None  # the sets with more documents than `max_set_size`; None if there are none

    def members(self) -> dict[int, list[int]]:
        """Return the duplicates of each kept document, the preferred ones first."""
        groups: dict[int, list[int]] = {}
        for number in np.flatnonzero(self.kept_document_of != UNASSIGNED).tolist():
            groups.setdefault(int(self.kept_document_of[number]), []).append(number)
        return groups


class Duplicates:
    """The duplicates in a collection: counts, groups and pairs. Groups and pairs are computed on demand.

    Iterating yields the groups, and `len` returns their number.

    Attributes:
        document_count: number of compared documents.
        new_document_count: number of new documents among them. Older documents were only compared with new ones.
        measure: the measure of overlap, and the minimum overlap.
        verified: whether texts were compared. Otherwise all overlaps are estimated from fingerprints.
        textless_file_count: number of files without text whose bytes were compared.
        left_out: for each document that cannot be compared, its key and the reason. More documents may be added while
            texts are read.
        left_out_indices: the indices behind an alias whose documents were not compared, with the reasons.
        roots: the indexed folders and files of the compared documents.
        missing_files: number of documents whose file no longer exists, per indexed folder or file.
        group_count: number of groups.
        duplicate_count: number of duplicates, without the kept documents.
        drop_count: number of duplicates that a plan would drop.
        freed_bytes: bytes freed by deleting the duplicates that a plan would drop.
        kind_counts: number of duplicates of each kind.
        drop_scope: which kinds a plan drops besides identical documents; None for no other kind.
        unverified_count: number of duplicates whose overlap is estimated because a text is missing.
        large_sets: the sets of similar documents in which not all pairs were compared; None if there are none.
    """

    def __init__(
        self,
        collection: Documents,
        grouping: Grouping,
        verdicts: Verdicts,
        measure: Measure,
        settings: Settings,
        *,
        read_texts: ReadTexts | None,
        drop_scope: DropScope | None,
        ignored_word_counts: Mapping[int, int],
    ) -> None:
        self._collection, self._grouping, self._verdicts = collection, grouping, verdicts
        self._settings, self._read_texts, self._ignored_words = settings, read_texts, ignored_word_counts
        self._duplicates = np.flatnonzero(grouping.kept_document_of != UNASSIGNED)
        self._differences: dict[int, str] = {}  # for each duplicate whose text was compared, how it differs
        self._undescribed: set[int] = set()  # the near duplicates beyond `_MAX_TOTAL_COMPARED_CHARACTERS`
        self._remaining_characters = _MAX_TOTAL_COMPARED_CHARACTERS
        self.document_count: int = len(collection)
        self.new_document_count: int = len(collection) - collection.first_new_index
        self.measure: Measure = measure
        self.verified: bool = read_texts is not None
        self.textless_file_count: int = 0
        self.left_out: dict[DocumentKey, str] = collection.left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.roots: list[str] = collection.roots
        self.missing_files: Counter[str] = collection.missing_files
        self.group_count: int = len(np.unique(grouping.kept_document_of[self._duplicates]))
        self.duplicate_count: int = len(self._duplicates)
        self.drop_count: int = verdicts.drop_count
        self.freed_bytes: int = verdicts.freed_bytes
        self.kind_counts: Counter[DuplicateKind] = verdicts.kind_counts
        self.drop_scope: DropScope | None = drop_scope
        self.unverified_count: int = int((~grouping.is_overlap_exact[self._duplicates]).sum()) if self.verified else 0
        self.large_sets: LargeSets | None = grouping.large_sets

    @property
    def missing_roots(self) -> list[str]:
        """The indexed folders and files of compared documents that do not exist now."""
        return [root for root in self.roots if not os.path.lexists(root)]

    @property
    def undescribed_count(self) -> int:
        """Number of near duplicates in the groups yielded so far whose `reason` does not say what differs.

        Describing the differences of more than 1,000 pairs, or of long texts, would take too long.
        """
        return len(self._undescribed)

    @property
    def ignored_word_count(self) -> int:
        """Number of ignored words in the texts compared so far."""
        return sum(self._ignored_words.values())

    def had_text_hash(self, number: int, text_hash: str) -> bool:
        """Return whether the document with this `number` had this `text_hash` when it was compared."""
        return self._collection.has_text_hash(number, text_hash)

    def count_freed_bytes(self, actions: Mapping[int, Action]) -> int:
        """Return how many bytes a plan frees if it has other actions for some documents than the proposed ones.

        Args:
            actions: maps the `number` of each of these documents to its action.
        """
        return self._verdicts.count_freed_bytes(actions)

    def describe_unsplit_texts(self) -> str:
        """Return a sentence if duplicates are missing because the words of some texts are not split. Else return "".

        A sample of up to 20 texts is read.
        """
        indexed = [number for number in range(len(self._collection)) if self._collection.is_indexed(number)]
        sample = indexed[:: -(-len(indexed) // _MAX_SAMPLED_TEXTS) or 1]
        texts = self._read_texts(sample) if self._read_texts else ()
        notes = (describe_overlaps_of_text(text or "", self._settings.analysis) for _, text in texts)
        return next(filter(None, notes), "")

    def __iter__(self) -> Iterator[Group]:
        return self.groups()

    def __len__(self) -> int:
        return self.group_count

    def groups(self, limit: int | None = None) -> Iterator[Group]:
        """Yield the groups, ordered by descending number of freed bytes, then by descending number of documents."""
        duplicates, verdicts = self._duplicates, self._verdicts
        kinds = np.array([DUPLICATE_KINDS.index(verdicts[number].kind) for number in duplicates.tolist()], np.int64)
        kept_document_of = self._grouping.kept_document_of
        order = np.lexsort((duplicates, -self._grouping.overlaps[duplicates], kinds, kept_document_of[duplicates]))
        duplicates = duplicates[order]
        begins = run_starts(kept_document_of[duplicates])
        counts = np.diff(np.append(begins, len(duplicates)))
        freed = np.array([verdicts.bytes_freed_by(number) for number in duplicates.tolist()], np.int64)
        freed_by_group = np.add.reduceat(freed, begins) if len(begins) else freed
        ordered = np.lexsort((begins, -counts, -freed_by_group))[:limit]
        for part in slices(len(ordered), _GROUPS_AT_ONCE):
            groups = [duplicates[begins[group] : begins[group] + counts[group]].tolist() for group in ordered[part]]
            self._describe_differences(number for numbers in groups for number in numbers)
            for numbers in groups:
                kept = int(kept_document_of[numbers[0]])
                yield Group(
                    self._make_document(kept), tuple(self._make_duplicate_of_search(number, kept) for number in numbers)
                )

    def keep_instead(self, group: Group, index: int) -> Group:
        """Return a group in which the duplicate at this index is kept. The document kept before is the first duplicate.

        The other documents were compared only with the document kept before. So the reason of one that is similar still
        refers to that document, and says so.
        """
        chosen, before = group.duplicates[index], group.kept
        others = {duplicate.number: duplicate for duplicate in group.duplicates if duplicate is not chosen}
        verdicts = self._verdicts.decide_group(chosen.number, [before.number, *sorted(others)])
        freed = self._verdicts.freed_bytes_by_document({number: verdict.action for number, verdict in verdicts.items()})
        shingle_counts = self._collection.table.shingle_counts[[before.number, chosen.number]].tolist()
        overlap = self.measure.swap_overlap(chosen.overlap, *shingle_counts)
        duplicates = []
        for number in (before.number, *others):
            verdict, other = verdicts[number], others.get(number)
            is_similar = verdict.kind in ("same words", "near")
            if other and is_similar and other.kind not in ("identical", "hard link"):
                reason = f"{other.reason} (compared with {before.key.id})"
                duplicates.append(replace(other, action=verdict.action, reason=reason, freed_bytes=0))
                continue
            # A similar document here is the one kept before, or a copy of it, so the overlaps are equal.
            is_near = verdict.kind == "near"
            duplicate = self._make_duplicate(
                number, chosen.number, verdict,
                overlap=overlap if is_near else 1.0, exact=chosen.exact or not is_near,
                differences=self._compare_pair(chosen.number, number, verdict.kind) if is_similar else "",
                freed_bytes=freed.get(number, 0),
            )  # fmt: skip
            duplicates.append(duplicate)
        return Group(self._make_document(chosen.number), tuple(duplicates))

    def pairs(self) -> Iterator[Pair]:
        """Yield all pairs that overlap enough, including pairs of two duplicates. Pairs are verified on demand.

        In a set that is too large, each document is only paired with a few others; see `large_sets`.
        """
        grouping, pairs = self._grouping, self._grouping.pairs
        for a, b in grouping.same_words_sets.pairs_within(grouping.max_set_size, self._collection.first_new_index):
            yield self._make_pair(a, b, 1.0, exact=True)
        for part in slices(len(pairs.keys), _PAIRS_AT_ONCE):
            positions = part.start + np.arange(len(pairs.keys[part]))
            found = positions[pairs.overlap_enough(positions)]
            for pair, first, second in zip(*map(np.ndarray.tolist, (found, *pairs.documents_of(found))), strict=True):
                for a, b in grouping.same_words_sets.pairs_between(first, second, grouping.max_set_size):
                    yield self._make_pair(a, b, float(pairs.overlaps[pair]), exact=bool(pairs.is_overlap_exact[pair]))

    def find_unlisted_documents(self) -> tuple[list[DocumentKey], bool]:
        """Find the documents in no group that overlap a duplicate, but not the kept document of its group.

        At most 1,000 pairs are compared, those with the highest estimated overlaps.

        Returns:
            The keys, and whether these are all of them.
        """
        pairs, kept_document_of = self._grouping.pairs, self._grouping.kept_document_of
        is_in_group = kept_document_of != UNASSIGNED
        is_in_group[kept_document_of[self._duplicates]] = True
        parts = [np.zeros(0, np.int64)]
        for part in slices(len(pairs.keys), _PAIRS_IN_MEMORY):
            first, second = pairs.documents_of(part)
            parts.append(part.start + np.flatnonzero(is_in_group[first] != is_in_group[second]))
        positions = np.concatenate(parts)
        compared = positions[np.argsort(-pairs.overlaps[positions], kind="stable")[:_MAX_UNLISTED_PAIRS]]
        first, second = pairs.documents_of(compared[pairs.overlap_enough(compared)])
        unlisted = np.unique(np.where(is_in_group[first], second, first)).tolist()
        return list(map(self._collection.key, unlisted)), len(compared) == len(positions)

    def compare_group(self, group: Group) -> Iterator[tuple[Duplicate, Comparison, tuple[str, str]]]:
        """Compare the kept document of a group with each near-duplicate.

        Yields the duplicate, the comparison, and both texts. Documents without a stored text are omitted.
        """
        near = {duplicate.number: duplicate for duplicate in group.duplicates if duplicate.kind == "near"}
        for number, kept_text, text in self._read_text_pairs(list(near)):
            yield near[number], compare(kept_text, text, settings=self._settings), (kept_text, text)

    def membership(self) -> GroupMembership:
        """Return an object that looks up the group of a document by its key."""
        return GroupMembership(self._collection, self._grouping.kept_document_of)

    def _describe_differences(self, numbers: Iterable[int]) -> None:
        """Describe how the duplicates with the same words, and the first near duplicates, differ from the kept ones."""
        unknown = [number for number in numbers if number not in self._differences]
        same_words = [number for number in unknown if self._verdicts[number].kind == "same words"]
        near = [number for number in unknown if self._verdicts[number].kind == "near"]
        if self.verified and self._remaining_characters <= 0:
            self._undescribed.update(near)
            near = []
        for number, kept_text, text in self._read_text_pairs(same_words + near):
            kind = self._verdicts[number].kind
            if kind == "near":
                if self._remaining_characters <= 0:
                    self._undescribed.add(number)
                    continue
                self._remaining_characters -= max(len(kept_text) + len(text), _MIN_CHARACTERS_PER_PAIR)
            self._differences[number] = self._describe_texts(kept_text, text, kind)

    def _compare_pair(self, kept: int, number: int, kind: DuplicateKind) -> str:
        """Describe how a document differs from one that is kept; empty if a text is not stored."""
        for _, kept_text, text in self._read_text_pairs([number], [kept]):
            return self._describe_texts(kept_text, text, kind)
        return ""

    def _describe_texts(self, kept_text: str, text: str, kind: DuplicateKind) -> str:
        if kind == "same words":
            return describe_character_changes(kept_text, text, self._settings.analysis)
        return summarise_differences(compare(kept_text, text, settings=self._settings), (kept_text, text))

    def _read_text_pairs(
        self, numbers: Sequence[int], kept_numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, str, str]]:
        """Yield the index of each duplicate, the text of its kept document, and its own text, if both are stored.

        `kept_numbers` are the kept documents; None for those of the groups.
        """
        for part in slices(len(numbers), _TEXT_PAIRS_AT_ONCE):
            kept = kept_numbers or self._grouping.kept_document_of[numbers[part]].tolist()
            texts = dict(self._read_texts([*dict.fromkeys(kept), *numbers[part]])) if self._read_texts else {}
            for number, kept_number in zip(numbers[part], kept, strict=True):
                kept_text, text = texts.get(kept_number), texts.get(number)
                if kept_text is not None and text is not None:
                    yield number, kept_text, text

    def _make_pair(self, a: int, b: int, overlap: float, *, exact: bool) -> Pair:
        kind = self._verdicts.classify_pair(a, b)
        return Pair(self._collection.key(a), self._collection.key(b), overlap, kind, exact)

    def _make_document(self, number: int) -> GroupedDocument:
        collection = self._collection
        size, mtime = int(collection.file_sizes[number]), int(collection.mtimes[number])
        written_ns = int(collection.written_ns[number])
        written = format_day(written_ns, int(collection.date_part_counts[number]) or 3) if written_ns else None
        return GroupedDocument(
            collection.key(number), None if size < 0 else size, mtime or None, written, collection.path(number),
            collection.is_indexed(number), number,
        )  # fmt: skip

    def _find_written(self, number: int) -> WrittenDocument:
        """Return the path of a document, and when it was written."""
        collection = self._collection
        written = TimeWritten(int(collection.written_ns[number]), int(collection.date_part_counts[number]))
        return WrittenDocument(collection.id(number), written)

    def _make_duplicate_of_search(self, number: int, kept: int) -> Duplicate:
        return self._make_duplicate(
            number, kept, self._verdicts[number],
            overlap=float(self._grouping.overlaps[number]), exact=bool(self._grouping.is_overlap_exact[number]),
            differences=self._differences.get(number, ""), freed_bytes=self._verdicts.bytes_freed_by(number),
        )  # fmt: skip

    def _make_duplicate(
        self,
        number: int,
        kept: int,
        verdict: Verdict,
        *,
        overlap: float,
        exact: bool,
        differences: str,
        freed_bytes: int,
    ) -> Duplicate:
        document = self._make_document(number)
        reference = verdict.duplicate_of if verdict.link_of is None else verdict.link_of
        is_reference_named = verdict.link_of is not None or reference != kept
        reason = reason_for(
            verdict,
            overlap=format_percent(overlap) if exact else format_estimate(overlap),
            differences=differences,
            reference_id=self._collection.id(reference) if is_reference_named else "",
            paths=(document.path, self._collection.path(verdict.duplicate_of)),
            frees_bytes=freed_bytes > 0 or not self._verdicts.has_other_links(number),
        )
        if verdict.kind in ("same words", "near"):
            conflict = self._collection.keep_rule.describe_conflict(*map(self._find_written, (kept, number)))
            reason = "; ".join(filter(None, (reason, conflict)))
        is_same_file = verdict.kind in ("identical", "hard link")
        return Duplicate(
            document.key, document.size, document.mtime_ns, document.written, document.path, document.indexed,
            number, 1.0 if is_same_file else overlap, verdict.kind, is_same_file or exact, verdict.action, reason,
            freed_bytes, self._collection.key(verdict.duplicate_of),
        )  # fmt: skip
