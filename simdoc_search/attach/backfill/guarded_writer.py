"""Fingerprints into documents that others may be writing to, each by a guarded update that touches our field alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import BackfillReport, Refused, Task, UnfitIndexError
from simdoc_search.errors import DocumentError
from simdoc_search.stores.remote.bulk import IndexGoneError, Outcome
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fault_of, fingerprint_in, is_ours
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.texts import text_of
from simdoc_search.stores.remote.updates import ALWAYS_CHANGED, CONFLICT, NOT_FOUND, GuardedUpdates

_FORBIDDEN = 403

Written = Literal["updated", "without_words", "removed"]
"""What a document got, as a report counts it."""


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
        written: dict[str, Written] = {}  # by id

        def changes(hits: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            nonlocal first
            anew, first = first, False
            for hit, values in self.values(hits, report, anew=anew):
                written[hit["_id"]] = (
                    "removed" if values is None else "updated" if values["tokens"] else "without_words"
                )
                yield hit, self._body(hit, values, anew=anew)

        try:
            for hit, outcome in self._updates.apply(hits, changes):
                self._count(hit, outcome, report, written[hit["_id"]])
        except IndexGoneError as error:
            raise UnfitIndexError(f"it {error.how}") from error

    def values(
        self, hits: list[RawHit], report: BackfillReport, *, anew: bool = False
    ) -> Iterator[tuple[RawHit, dict[str, Any] | None]]:
        """What documents are to get, None where a fingerprint is to go; those that get nothing are counted."""
        texts: list[tuple[RawHit, str]] = []
        for hit in hits:
            source = hit.get("_source") or {}
            try:
                text = text_of(source, self._task.text_fields)
                self._check_ours(source)
            except DocumentError as error:
                report.refused.append(Refused(hit["_id"], hit["_index"], str(error)))
                continue
            if text is None:
                if fingerprint_in(source, self._task.field) is None:
                    report.without_text += 1
                else:
                    yield hit, None
            elif not anew and self._is_right(source, text):
                report.unchanged += 1
            else:
                texts.append((hit, text))
        made = fingerprint_fields([text for _, text in texts], self._target.settings, self._target.extractor)
        for (hit, _), values in zip(texts, made, strict=True):
            if lacked := [name for name in ("sentences", "concepts") if values.get(name) == ""]:
                report.incomplete[hit["_id"]] = " and ".join(lacked)
            yield hit, values

    def _check_ours(self, source: dict[str, Any]) -> None:
        field = self._task.field
        if not is_ours(there := fingerprint_in(source, field)):
            shown = f"{there!r}"[:40]
            raise DocumentError(
                f"its field {field} has {shown}, which is no fingerprint; choose another name with --field"
            )

    def _is_right(self, source: dict[str, Any], text: str) -> bool:
        ours = source.get(self._task.field)
        return (
            isinstance(ours, dict)
            and ours.get("format") in self._target.labels
            and ours.get("text_hash") == text_hash(text)
            and not fault_of(source, self._task.field, self._target.settings)
        )

    def _body(self, hit: RawHit, values: dict[str, Any] | None, *, anew: bool) -> dict[str, Any]:
        """The update; keys with a dot, which would be a second value of the same field, are emptied."""
        field, source = self._task.field, hit.get("_source") or {}
        dotted = {key: None for key in source if key.startswith(f"{field}.")}
        there = source.get(field)
        failed = {"error": None} if isinstance(there, dict) and there.get("error") else {}
        ours = None if values is None else {**values, **failed}
        return {"doc": {**dotted, field: ours}, **({"detect_noop": False} if anew else {})}

    def _count(self, hit: RawHit, outcome: Outcome, report: BackfillReport, written: Written) -> None:
        if outcome.status == CONFLICT and outcome.error != ALWAYS_CHANGED:
            report.conflicts += 1
        elif outcome.status == NOT_FOUND:
            report.deleted_meanwhile += 1
        elif outcome.status == _FORBIDDEN:
            raise UnfitIndexError(f"it takes no updates: {outcome.reason}")
        elif outcome.error:
            report.refused.append(Refused(hit["_id"], hit["_index"], outcome.reason))
        elif outcome.result == "noop":
            report.unchanged += 1
        else:
            setattr(report, written, getattr(report, written) + 1)
