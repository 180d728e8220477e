"""Which documents are versions of this one? Candidates are compared by their sentences, and ordered by the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from simdoc_search.documents import Place
from simdoc_search.passages.align import align_words
from simdoc_search.passages.compare import what_differs
from simdoc_search.passages.dates import Date, latest_day
from simdoc_search.passages.matched_words import words_in
from simdoc_search.passages.passage import KeyChange
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.similar_options import PageOptions
from simdoc_search.search.stored_texts import ReadText, pages, read_records, with_fields
from simdoc_search.search.versions_candidates import Found, find_candidates
from simdoc_search.search.versions_result import Contradiction, Step, VersionEntry, VersionHit, VersionsResult
from simdoc_search.search.versions_source import VersionSource, known_of
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.record import Record, has_changed
from simdoc_search.versions import (
    Limits,
    Matched,
    found_in_each_other,
    matched,
    matched_with_many,
    proposed_order,
    timeline,
)
from simdoc_search.versions.text_order import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOptions(PageOptions):
    """How versions are asked for.

    Attributes:
        limits: what makes sentences alike and documents versions.
        exclude: a document that is not looked at: for a text, the document that it is.
        version_control: whether git may be asked when files were last committed.

    Raises:
        QuerySyntaxError: see `PageOptions`.
    """

    limits: Limits = field(default_factory=Limits)
    exclude: Place | None = None
    version_control: bool = True


@dataclass(frozen=True, slots=True)
class _Version:
    """A document that is a version: its record without its text, its sentences, and what they have in common."""

    record: Record
    sentences: Simhashes
    matched: Matched
    score: float


def versions_of(store: Store, source: VersionSource, options: VersionOptions) -> VersionsResult:
    """The versions of a source, in their order.

    Raises:
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        StoreError: the store has neither sentences nor texts.
    """
    wanted = options.offset + options.size
    candidates = find_candidates(
        store, source, source.place or options.exclude, options.filters, wanted, bits=options.limits.bits
    )
    if not candidates.total and (error := unknown_field(store, options.filters)):
        raise error
    found = _versions(source, candidates, options.limits)
    family = _Family(store, source, found, options)
    hits = with_fields(store, family.hits(options.size, options.offset), options.fields)
    return VersionsResult(
        source.name,
        source.text,
        (len(set(source.sentences.tolist())), candidates.asked),
        hits,
        family.shown,
        family.undated,
        family.newest,
        family.line.by,
        family.line.certain,
        family.conflict,
        family.line.reason,
        len(found),
        candidates.total,
        len(candidates.records),
        candidates.via,
        source.changed,
        left_out_indices(store),
        options.limits,
    )


def _versions(source: VersionSource, found: Found, limits: Limits) -> list[_Version]:
    """Those of some documents that are versions, highest score first."""
    matches = matched_with_many(source.sentences, found.sentences, limits.bits)
    versions = [
        _Version(record, sentences, matched, score)
        for record, sentences, matched in zip(found.records, found.sentences, matches, strict=True)
        if (score := limits.score_of(matched)) is not None and score >= limits.min_score
    ]
    return sorted(versions, key=lambda each: (-each.score, each.record.id, str(each.record.index)))


class _Family:
    """A source, which is number 0, and its versions in their order.

    Attributes:
        line: that order.
        shown: the dated members that are shown, the oldest first, after `hits` chose them.
        undated: the others that are shown, likewise.
        newest: the newest, if the evidence says which that is.
    """

    def __init__(
        self, store: Store, source: VersionSource, versions: Sequence[_Version], options: VersionOptions
    ) -> None:
        self._store, self._source, self._versions = store, source, versions
        self._bits = options.limits.bits
        known = [known_of(each.record, version_control=options.version_control) for each in versions]
        mine = source.known if options.version_control else replace(source.known, path=None)
        self.line = timeline([mine, *known], self._proposed)
        self.shown: tuple[VersionEntry, ...] = ()
        self.undated: tuple[VersionEntry, ...] = ()
        self.newest: VersionEntry | None = None

    @property
    def conflict(self) -> tuple[Contradiction, ...]:
        """What the evidence says that contradicts each other, with the names of the documents."""
        return tuple(
            Contradiction(each.by, self._name(each.later), self._name(each.earlier), *each.shown, each.counts)
            for each in self.line.conflict
        )

    def _name(self, number: int) -> str:
        return self._versions[number - 1].record.id if number else self._source.name

    def hits(self, size: int, offset: int) -> list[VersionHit]:
        """The best versions, the newest at the end of the first page at the latest, each with what changed in it."""
        best, newest = list(range(1, 1 + len(self._versions))), self.line.order[-1] if self.line.order else 0
        if newest > size:
            best.insert(size - 1, best.pop(newest - 1))
        chosen = best[offset : offset + size]
        seen = {0, newest, *chosen}
        dated, undated = ([each for each in some if each in seen] for some in (self.line.order, self.line.undated))
        order = [*undated, *dated]
        texts = read_records(self._store, [self._versions[each - 1].record.place for each in order if each])
        entries = self._entries(dated, texts) | {each: self._entry(each, None) for each in undated}
        self.shown, self.undated = (tuple(entries[each] for each in some) for some in (dated, undated))
        self.newest = None if self.line.newest is None else entries[self.line.newest]
        return [self._hit(self._versions[each - 1], entries[each], texts) for each in chosen]

    def _hit(self, version: _Version, entry: VersionEntry, texts: dict[Place, Record]) -> VersionHit:
        place, both = version.record.place, version.matched
        changed = place in texts and has_changed(texts[place])
        shares = both.share, both.share_of_other
        return VersionHit(place, version.score, *shares, len(version.sentences), both, entry, changed)

    def _entries(self, order: Sequence[int], texts: dict[Place, Record]) -> dict[int, VersionEntry]:
        """Those that are shown, each with the step from the one before it."""
        read = {each: self._read(each, texts) for each in order}
        entries = {each: self._entry(each, None) for each in order[:1]}
        for before, each in pairwise(order):
            entries[each] = self._entry(each, self._step(before, each, read[before], read[each]))
        return entries

    def _entry(self, number: int, step: Step | None) -> VersionEntry:
        dated = self.line.dates[number]
        if not number:
            return VersionEntry(self._source.name, self._source.place, True, dated, step)
        place = self._versions[number - 1].record.place
        return VersionEntry(place.id, place, False, dated, step)

    def _read(self, number: int, texts: dict[Place, Record]) -> ReadText | None:
        if number:
            record = texts.get(self._versions[number - 1].record.place)
            text = record.text if record else None
        else:
            text = self._source.text
        return None if text is None else ReadText.of(text, self._store.settings.analysis)

    def _step(self, before: int, number: int, old: ReadText | None, new: ReadText | None) -> Step:
        found = matched(self._sentences(before), self._sentences(number), self._bits)
        share = max(found.share, found.share_of_other)
        return Step(share) if old is None or new is None else Step(share, *words_changed(old, new))

    def _sentences(self, number: int) -> Simhashes:
        return self._versions[number - 1].sentences if number else self._source.sentences

    def _proposed(self, numbers: Sequence[int]) -> list[int]:
        """Some of them in the order that their sentences, and the days that their texts name, propose."""
        return proposed_order(self._found, self._days, among=numbers)

    @cached_property
    def _found(self) -> Ints:
        return found_in_each_other([self._sentences(each) for each in range(len(self._versions) + 1)])

    @cached_property
    def _days(self) -> list[Date | None]:
        """The latest day that each text names, as far as texts are known."""
        days: dict[Place, Date | None] = {}
        for page in pages(each.record.place for each in self._versions):
            for place, record in read_records(self._store, page).items():
                days[place] = latest_day(record.text or "")
        return [latest_day(self._source.text or ""), *(days.get(each.record.place) for each in self._versions)]


def words_changed(old: ReadText, new: ReadText) -> tuple[int, int, tuple[KeyChange, ...]]:
    """How many words the second text has added to the first, how many it has removed, and the changes to read first.

    A replaced word counts as added and as removed. What only moved counts as neither.
    """
    words = old.words, new.words
    found = what_differs((old.text, new.text), words, align_words(*words))
    changed = [each for each in found.words if each.kind != "moved"]
    added, removed = (
        words_in(new.words, [each.b for each in changed]),
        words_in(old.words, [each.a for each in changed]),
    )
    return int(added.sum()), int(removed.sum()), tuple(found.keys)
