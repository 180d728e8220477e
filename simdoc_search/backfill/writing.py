"""Fingerprints into documents that others may be writing to: no write of theirs is lost.

A fingerprint is written by a partial update under the condition that the document is still the one that was read. If it
is not, the document is read again, and done again if it needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simdoc_search.actions import fingerprint_fields, text_of
from simdoc_search.backfill.patient import PatientEngine
from simdoc_search.backfill.reading import Hit, wanted_source
from simdoc_search.backfill.targets import Target
from simdoc_search.backfill.task import BackfillReport, Refused, Task, UnfitIndexError
from simdoc_search.errors import DocumentError, StoreError, StoreNotFoundError
from simdoc_search.stores.bulk import reason_of
from simdoc_search.stores.fields import text_hash
from simdoc_search.stores.patience import BUSY, is_passing
from simdoc_search.stores.rest import RequestError

__all__ = ["Writer"]

CHUNK_BYTES = 4_000_000
ATTEMPTS = 10
"""How often a document that others keep changing is read again."""

_GONE, _LATE, _TOO_LARGE, _FORBIDDEN = 404, 409, 413, 403


@dataclass(frozen=True, slots=True)
class _Update:
    """What a document is to get, and the lines that say so."""

    hit: Hit
    values: dict[str, Any]
    lines: bytes


Answer = tuple[_Update, int, str]
"""An update, its status, and what became of it: the engine's `result`, or its reason to refuse."""


class Writer:
    """Gives documents of one index their fingerprints. Several threads may use one."""

    def __init__(self, engine: PatientEngine, target: Target, task: Task) -> None:
        self._engine = engine
        self._target = target
        self._task = task

    def write(self, hits: list[Hit], report: BackfillReport) -> None:
        """Bring documents up to date, and count them in a report, which is right whatever ends it.

        Raises:
            UnfitIndexError: the index takes nothing.
            StoreUnavailableError: the engine took nothing for too long.
            StoreError: it refused everything.
            StoppedError: the run ends; what was sent is done.
        """
        for _ in range(ATTEMPTS):
            late = [update.hit for update in self._send_and_count(self.updates(hits, report), report)]
            if not late:
                return
            report.conflicts += len(late)
            hits = self._read_again(late, report)
        reason = f"others changed it each of the {ATTEMPTS} times it was read; run it again"
        report.refused += [Refused(hit["_id"], hit["_index"], reason) for hit in hits]

    def updates(self, hits: list[Hit], report: BackfillReport) -> list[_Update]:
        """What is to be written; documents that need nothing, or have no text, are counted."""
        texts: list[tuple[Hit, str]] = []
        for hit in hits:
            source = hit.get("_source") or {}
            try:
                text = text_of(source, self._task.text_field) or ""
            except DocumentError as error:
                report.refused.append(Refused(hit["_id"], hit["_index"], str(error)))
                continue
            if self._is_right(source, text):
                report.unchanged += 1
            else:
                texts.append((hit, text))
        made = fingerprint_fields([text for _, text in texts], self._target.settings)
        return [
            self._update(hit, values or self._no_words(text)) for (hit, text), values in zip(texts, made, strict=True)
        ]

    def _is_right(self, source: dict[str, Any], text: str) -> bool:
        ours = source.get(self._task.field)
        if not isinstance(ours, dict) or ours.get("format") != self._target.label:
            return False
        return bool(ours.get("text_hash") == text_hash(text))

    def _no_words(self, text: str) -> dict[str, Any]:
        """The mark of a text without words; an older fingerprint goes."""
        mark = {"text_hash": text_hash(text), "format": self._target.label}
        return {"tokens": None, "shingles": 0, "buckets": 0, **mark}

    def _update(self, hit: Hit, values: dict[str, Any]) -> _Update:
        place = {"_index": hit["_index"], "_id": hit["_id"]}
        place |= {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
        if "_routing" in hit:
            place["routing"] = hit["_routing"]
        lines = json.dumps({"update": place}) + "\n" + json.dumps({"doc": {self._task.field: values}}) + "\n"
        return _Update(hit, values, lines.encode())

    def _send_and_count(self, updates: list[_Update], report: BackfillReport) -> Iterator[_Update]:
        """Send updates; those that came too late are left."""
        for update, status, said in self._send(updates):
            hit = update.hit
            if status == _LATE:
                yield update
            elif status == _GONE:
                report.deleted_meanwhile += 1
            elif status >= 400:
                report.refused.append(Refused(hit["_id"], hit["_index"], said))
            elif said == "noop":
                report.unchanged += 1
            elif update.values["tokens"]:
                report.updated += 1
            else:
                report.without_text += 1

    def _send(self, updates: list[_Update]) -> Iterator[Answer]:
        """Send updates until each is done or refused."""
        parts = list(_chunks(updates))
        waiting = self._engine.patience()
        while parts:
            sent = parts.pop()
            answers, why = self._send_once(sent)
            again = [update for update, status, _ in answers if status in BUSY]
            if len(again) < len(sent):
                waiting.progress()
            yield from (answer for answer in answers if answer[1] not in BUSY)
            if again:
                waiting.wait(why)
                middle = (len(again) + 1) // 2  # smaller chunks may fit where large ones did not
                parts += [again[middle:], again[:middle]] if len(again) == len(sent) > 1 else [again]

    def _send_once(self, updates: list[_Update]) -> tuple[list[Answer], str]:
        """The answers, and why some are to be sent again."""
        self._check_index()
        try:
            items = self._engine.engine.call("POST", ["_bulk"], b"".join(each.lines for each in updates))["items"]
        except StoreError as error:
            too_large = isinstance(error, RequestError) and error.status == _TOO_LARGE
            if too_large and len(updates) == 1:
                return [(updates[0], _TOO_LARGE, "too large for the engine")], ""
            if not (too_large or is_passing(error)):
                raise
            return [(update, 503, str(error)) for update in updates], str(error)
        answers = [self._answer(update, item["update"]) for update, item in zip(updates, items, strict=True)]
        return answers, next((f"the engine is busy ({said})" for _, status, said in answers if status in BUSY), "")

    def _answer(self, update: _Update, item: dict[str, Any]) -> Answer:
        error = item.get("error")
        if not error:
            return update, item["status"], item["result"]
        said = reason_of(error)
        if item["status"] == _FORBIDDEN:
            raise UnfitIndexError(f"it takes no updates: {said}")
        if item["status"] == _GONE and error["type"] != "document_missing_exception":
            raise UnfitIndexError("it was removed meanwhile")
        return update, item["status"], said

    def _check_index(self) -> None:
        """An update would make a removed index anew, and hit the wrong documents in one that took its name."""
        try:
            found = self._engine.ask("GET", [self._target.index, "_settings", "index.uuid"])
        except StoreNotFoundError as error:
            raise UnfitIndexError("it was removed meanwhile") from error
        if [self._target.uuid] != [each["settings"]["index"]["uuid"] for each in found.values()]:
            raise UnfitIndexError("another index has taken its name; run it again")

    def _read_again(self, hits: list[Hit], report: BackfillReport) -> list[Hit]:
        """Documents as they are at this moment, even if no search shows it yet."""
        source = wanted_source(self._task.text_field, self._task.field)
        asked = [
            {"_index": hit["_index"], "_id": hit["_id"], "_source": source}
            | ({"routing": hit["_routing"]} if "_routing" in hit else {})
            for hit in hits
        ]
        found: list[Hit] = self._engine.ask("POST", ["_mget"], {"docs": asked})["docs"]
        if error := next((each["error"] for each in found if "error" in each), None):
            raise UnfitIndexError(f"its documents cannot be read: {reason_of(error)}")
        there = [each for each in found if each["found"]]
        report.deleted_meanwhile += len(found) - len(there)
        return there


def _chunks(updates: list[_Update]) -> Iterator[list[_Update]]:
    """Updates in chunks that an engine takes, the last first."""
    chunk: list[_Update] = []
    size = 0
    for update in reversed(updates):
        if chunk and size + len(update.lines) > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(update)
        size += len(update.lines)
    if chunk:
        yield chunk
