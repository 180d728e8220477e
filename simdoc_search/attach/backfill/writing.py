"""Fingerprints into documents that others may be writing to, each by a guarded update that touches our field alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import BackfillReport, Refused, Task, UnfitIndexError
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.stores.remote.bulk import IndexGoneError, Outcome
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.malformed import fault_of, is_ours, our_part
from simdoc_search.stores.remote.moments import RawHit
from simdoc_search.stores.remote.texts import text_of
from simdoc_search.stores.remote.updates import GIVEN_UP, GONE, LATE, GuardedUpdates

__all__ = ["Writer", "wanted_source"]

_FORBIDDEN = 403


def wanted_source(task: Task) -> list[str]:
    """What is read of a document: its text, and all that it has at our field, under whatever form of the name."""
    return [*task.text_fields, task.field]


class Writer:
    """Gives documents of one index their fingerprints. Several threads may use one."""

    def __init__(self, engine: Engine, target: Target, task: Task) -> None:
        self._target = target
        self._task = task
        self._updates = GuardedUpdates(engine, target.index, target.uuid, wanted_source(task))

    def write(self, hits: list[RawHit], report: BackfillReport, *, unindexed: bool = False) -> None:
        """Bring documents up to date, and count them in a report, which is right whatever ends it.

        Args:
            hits: the documents.
            report: where they are counted.
            unindexed: no query found a fingerprint in them, so that they are indexed anew even if they have it.

        Raises:
            UnfitIndexError: the index takes nothing, or is gone.
            StoreUnavailableError: the engine took nothing for too long.
            StoreError: it refused everything.
            StoppedError: the run ends; what was sent is done.
        """
        first = unindexed
        marks: set[tuple[str, str]] = set()  # documents without words

        def changes(hits: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            nonlocal first
            anew, first = first, False
            for hit, values in self.values(hits, report, anew=anew):
                (marks.discard if values["tokens"] else marks.add)((hit["_index"], hit["_id"]))
                yield hit, self._body(hit, values, anew=anew)

        try:
            for hit, outcome in self._updates.apply(hits, changes):
                self._count(hit, outcome, report, has_words=(hit["_index"], hit["_id"]) not in marks)
        except IndexGoneError as error:
            raise UnfitIndexError(f"it {error.how}") from error

    def values(
        self, hits: list[RawHit], report: BackfillReport, *, anew: bool = False
    ) -> Iterator[tuple[RawHit, dict[str, Any]]]:
        """What documents are to get; those that need nothing, or can get nothing, are counted."""
        texts: list[tuple[RawHit, str]] = []
        for hit in hits:
            source = hit.get("_source") or {}
            try:
                text = text_of(source, self._task.text_fields) or ""
                self._check_ours(source)
            except DocumentError as error:
                report.refused.append(Refused(hit["_id"], hit["_index"], str(error)))
                continue
            if not anew and self._is_right(source, text):
                report.unchanged += 1
            else:
                texts.append((hit, text))
        made = fingerprint_fields([text for _, text in texts], self._target.settings, self._target.extractor)
        for (hit, text), values in zip(texts, made, strict=True):
            if lacked := [name for name in ("sentences", "concepts") if values and values.get(name) == ""]:
                report.incomplete[hit["_id"]] = " and ".join(lacked)
            yield hit, values or self._no_words(text)

    def _check_ours(self, source: dict[str, Any]) -> None:
        field = self._task.field
        if not is_ours(there := our_part(source, field)):
            shown = f"{there!r}"[:40]
            raise DocumentError(
                f"its field {field} has {shown}, which is no fingerprint; choose another name with --into"
            )

    def _is_right(self, source: dict[str, Any], text: str) -> bool:
        ours = source.get(self._task.field)
        return (
            isinstance(ours, dict)
            and ours.get("format") in self._target.labels
            and ours.get("text_hash") == text_hash(text)
            and not fault_of(source, self._task.field, self._target.settings)
        )

    def _no_words(self, text: str) -> dict[str, Any]:
        """The mark of a text without words; an older fingerprint goes."""
        mark = {"text_hash": text_hash(text), "format": self._target.labels[0]}
        further: dict[str, Any] = dict.fromkeys(names_of_kinds(self._target.settings))
        return {"tokens": None, **further, "shingles": 0, "buckets": 0, "words_hash": None, **mark}

    def _body(self, hit: RawHit, values: dict[str, Any], *, anew: bool) -> dict[str, Any]:
        """The update; keys with a dot, which would be a second value of the same field, are emptied."""
        field, source = self._task.field, hit.get("_source") or {}
        dotted = {key: None for key in source if key.startswith(f"{field}.")}
        there = source.get(field)
        failed = {"error": None} if isinstance(there, dict) and there.get("error") else {}
        return {"doc": {**dotted, field: {**values, **failed}}, **({"detect_noop": False} if anew else {})}

    def _count(self, hit: RawHit, outcome: Outcome, report: BackfillReport, *, has_words: bool) -> None:
        if outcome.status == LATE and outcome.error != GIVEN_UP:
            report.conflicts += 1
        elif outcome.status == GONE:
            report.deleted_meanwhile += 1
        elif outcome.status == _FORBIDDEN:
            raise UnfitIndexError(f"it takes no updates: {outcome.reason}")
        elif outcome.error:
            report.refused.append(Refused(hit["_id"], hit["_index"], outcome.reason))
        elif outcome.result == "noop":
            report.unchanged += 1
        elif has_words:
            report.updated += 1
        else:
            report.without_text += 1
