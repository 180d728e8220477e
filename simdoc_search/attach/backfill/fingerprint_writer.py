"""Writes fingerprints into documents that other writers may be changing.

Each update changes only the fingerprint field. The engine rejects it if the document changed after it was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.report import BackfillReport, RefusedDocument, UnsupportedIndexError
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.field_removal import build_removal_script
from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import DocumentError
from simdoc_search.stores.remote.bulk import ActionOutcome, IndexGoneError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import describe_fault, is_simdoc_value, read_fingerprint_value
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.schema import MARK_FIELDS, labels_with_all_kinds
from simdoc_search.stores.remote.texts import read_text
from simdoc_search.stores.remote.updates import CONFLICT, NOT_FOUND, TOO_MANY_CONFLICTS, ConditionalUpdater

_FORBIDDEN = 403

WriteCounterName = Literal["updated_count", "wordless_count", "removed_count"]
"""The attribute of `BackfillReport` in which an update is counted."""


def list_source_fields(options: BackfillOptions) -> list[str]:
    """Return the fields that a backfill reads from each document."""
    return [*options.text_fields, options.field]


class FingerprintWriter:
    """Writes the fingerprints of one index. Several threads may use it."""

    def __init__(self, engine: Engine, target: Target, options: BackfillOptions) -> None:
        self._engine = engine
        self._target = target
        self._options = options
        self._labels = labels_with_all_kinds(target.settings)
        self._updater = ConditionalUpdater(engine, target.index.name, target.index.uuid, list_source_fields(options))

    def write(self, hits: list[RawHit], report: BackfillReport, *, write_unchanged: bool = False) -> None:
        """Update documents, and count them in a report. The counts are correct even if an error is raised.

        With `write_unchanged`, documents with a correct fingerprint are written too, because the fingerprint may not be
        indexed.

        Raises:
            UnsupportedIndexError: the index does not accept updates, or was removed.
            StoreUnavailableError: the engine did not respond in time.
            StoreError: the engine rejected a whole request.
            StoppedError: the run was stopped. Updates whose outcome is unknown are counted as unconfirmed.
        """
        write_unchanged_per_round = chain([write_unchanged], repeat(False))
        counter_names: dict[str, WriteCounterName] = {}  # by document id
        unconfirmed_keys: set[tuple[str, str | None]] = set()

        def make_updates(hits: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            writes_unchanged = next(write_unchanged_per_round)
            for hit, values in self.compute_new_values(hits, report, write_unchanged=writes_unchanged):
                counter_name: WriteCounterName = "removed_count"
                if values is not None:
                    counter_name = "updated_count" if values["tokens"] else "wordless_count"
                counter_names[hit["_id"]] = counter_name
                unconfirmed_keys.add((hit["_id"], hit.get("_routing")))
                if values is None and self._can_run_scripts:
                    yield hit, {"script": build_removal_script(self._options.field)}
                else:
                    yield hit, self._make_update_body(hit, values, write_unchanged=writes_unchanged)

        try:
            for hit, outcome in self._updater.apply(hits, make_updates):
                unconfirmed_keys.discard((hit["_id"], hit.get("_routing")))
                self._count_outcome(hit, outcome, report, counter_names[hit["_id"]])
        except IndexGoneError as error:
            raise UnsupportedIndexError(f"the index {error.cause}") from error
        except StoppedError:
            report.unconfirmed_count += len(unconfirmed_keys)
            raise

    def compute_new_values(
        self, hits: list[RawHit], report: BackfillReport, *, write_unchanged: bool = False
    ) -> Iterator[tuple[RawHit, dict[str, Any] | None]]:
        """Yield the documents that need an update, with the new value of the fingerprint field; None removes it.

        Documents that need no update are counted in the report.
        """
        texts: list[tuple[RawHit, str]] = []
        for hit in hits:
            source = hit.get("_source") or {}
            try:
                text = read_text(source, self._options.text_fields)
                self._check_is_fingerprint(source)
            except DocumentError as error:
                report.refused.append(RefusedDocument(hit["_id"], hit["_index"], str(error)))
                continue
            if text is not None:
                if write_unchanged or not self._is_current(source, text):
                    texts.append((hit, text))
                else:
                    report.unchanged_count += 1
            elif read_fingerprint_value(source, self._options.field) is None:
                report.textless_count += 1
            else:
                yield hit, None
        values = fingerprint_fields([text for _, text in texts], self._target.settings, self._target.extractor)
        for (hit, _), value in zip(texts, values, strict=True):
            if missing := [name for name in ("sentences", "concepts") if value.get(name) == ""]:
                report.incomplete[hit["_id"]] = " and ".join(missing)
            yield hit, value

    def _check_is_fingerprint(self, source: dict[str, Any]) -> None:
        value = read_fingerprint_value(source, self._options.field)
        if not is_simdoc_value(value):
            problem = f"the field {self._options.field} contains {f'{value!r}'[:40]}, which is not a fingerprint"
            raise DocumentError(f"{problem}; choose another field with --field")

    def _is_current(self, source: dict[str, Any], text: str) -> bool:
        value = source.get(self._options.field)
        return (
            isinstance(value, dict)
            and value.get("format") in self._labels
            and value.get("text_hash") == text_hash(text)
            and not describe_fault(source, self._options.field, self._target.settings)
        )

    def _make_update_body(self, hit: RawHit, value: dict[str, Any] | None, *, write_unchanged: bool) -> dict[str, Any]:
        """Return the body of an update that sets the fingerprint. None sets it to null.

        If the document has dotted keys such as `simdoc.tokens`, the body sets them to null. Otherwise the engine would
        index their values together with the fingerprint. If the text has changed, its marks are removed.
        """
        field, source = self._options.field, hit.get("_source") or {}
        dotted = {key: None for key in source if key.startswith(f"{field}.")}
        before = source.get(field)
        if value is not None and isinstance(before, dict):
            has_changed = before.get("text_hash") != value["text_hash"]
            outdated = [name for name in ("error", *(MARK_FIELDS if has_changed else ())) if before.get(name)]
            value = {**value, **dict.fromkeys(outdated)}
        return {"doc": {**dotted, field: value}, **({"detect_noop": False} if write_unchanged else {})}

    @cached_property
    def _can_run_scripts(self) -> bool:
        return not self._engine.find_script_problem("update")

    def _count_outcome(
        self, hit: RawHit, outcome: ActionOutcome, report: BackfillReport, counter_name: WriteCounterName
    ) -> None:
        if outcome.status == CONFLICT and outcome.error != TOO_MANY_CONFLICTS:
            report.conflict_count += 1
        elif outcome.status == NOT_FOUND:
            report.deleted_count += 1
        elif outcome.status == _FORBIDDEN:
            raise UnsupportedIndexError(f"the index does not accept updates: {outcome.reason}")
        elif outcome.error:
            report.refused.append(RefusedDocument(hit["_id"], hit["_index"], outcome.reason))
        elif outcome.result == "noop":
            report.unchanged_count += 1
        else:
            setattr(report, counter_name, getattr(report, counter_name) + 1)
