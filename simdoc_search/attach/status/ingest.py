"""Which pipeline of the engine makes the fingerprints of an index, if one does, and of which settings?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simdoc_search.attach.pipeline.default_pipeline import NONE
from simdoc_search.attach.pipeline.scripts import parameters_in
from simdoc_search.display import printable
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import format_label

PipelineState = Literal["none", "missing", "unknown", "other", "different", "fits"]
"""None is named; the one that is named is not there; we may not see it; it makes no fingerprints; it makes some of
other settings or texts, or in another field, than the mapping says; it makes those that the mapping says."""

_SAID = {
    "none": "none fills it: index.final_pipeline is not set",
    "missing": "index.{setting} names {pipeline}, which is not there, so writes fail; install it, or set it to _none",
    "unknown": "index.{setting} names {pipeline}, which we may not see",
    "other": "{pipeline} (index.{setting}) makes no fingerprints",
    "different": "{pipeline} (index.{setting}) makes fingerprints of other settings or texts, or in another field, "
    "than the mapping says; install it anew",
    "fits": "{pipeline} (index.{setting}) makes the fingerprints that the mapping says",
}

_KEYS = ("final_pipeline", "default_pipeline")
_BEST_FIRST: tuple[PipelineState, ...] = ("fits", "different", "missing", "unknown", "other", "none")


@dataclass(frozen=True, slots=True)
class Ingest:
    """How an index gets fingerprints from its engine.

    Attributes:
        state: see `PipelineState`.
        pipeline: the name of the pipeline; empty: none is named.
        setting: the setting of the index that names it, `final_pipeline` or `default_pipeline`.
    """

    state: PipelineState
    pipeline: str = ""
    setting: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether documents get no fingerprint of it, or one that cannot be compared."""
        return self.state in ("missing", "different")

    def __str__(self) -> str:
        return _SAID[self.state].format(pipeline=printable(self.pipeline), setting=self.setting)


class Pipelines:
    """The pipelines of an engine, each read once.

    Args:
        engine: where they are.
        field: the field that they are to fill.
    """

    def __init__(self, engine: Engine, field: str) -> None:
        self._engine = engine
        self._field = field
        self._read: dict[str, Mapping[str, Any] | PipelineState] = {}

    def of_index(
        self, index_settings: Mapping[str, Any], settings: Settings | None, text_fields: Sequence[str] = ()
    ) -> Ingest:
        """The pipeline of an index: the one that makes fingerprints, else the first that is named.

        Args:
            index_settings: the settings of the index, below `index`.
            settings: how its fingerprints are made; None: the mapping does not say it.
            text_fields: of what; empty: the mapping does not say it.

        Raises:
            StoreError: the engine does not answer.
        """
        named = [(str(index_settings[key]), key) for key in _KEYS if index_settings.get(key, NONE) != NONE]
        found = [Ingest(self._state(name, settings, text_fields), name, key) for name, key in named]
        return min(found, key=lambda each: _BEST_FIRST.index(each.state), default=Ingest("none"))

    def _state(self, name: str, settings: Settings | None, text_fields: Sequence[str]) -> PipelineState:
        body = self._body(name)
        if isinstance(body, str):
            return body
        made = list(parameters_in(body, self._seen))
        if not made:
            return "other"
        ours = [each for each in made if each["into"] == self._field]
        label = format_label(settings) if settings else None
        fits = any(each["format"] == label and [*text_fields] in ([], each.get("fields")) for each in ours)
        return "fits" if fits else "different"

    def _seen(self, name: str) -> Mapping[str, Any] | None:
        body = self._body(name)
        return None if isinstance(body, str) else body

    def _body(self, name: str) -> Mapping[str, Any] | PipelineState:
        if name not in self._read:
            self._read[name] = self._asked(name)
        return self._read[name]

    def _asked(self, name: str) -> Mapping[str, Any] | PipelineState:
        try:
            found = self._engine.call("GET", ["_ingest", "pipeline", name])
        except RequestError as error:
            if error.status not in (401, 403, 404):
                raise
            return "missing" if error.status == 404 else "unknown"
        body = found.get(name)
        return body if isinstance(body, Mapping) else "missing"
