"""Reads which pipeline of the engine makes the fingerprints of an index, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simdoc_search.attach.indices import NO_PIPELINE, IndexDescription
from simdoc_search.display import printable
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import format_label

PipelineState = Literal["none", "missing", "unknown", "other", "different", "fits"]
"""`none`: the index has no pipeline. `missing`: its pipeline does not exist. `unknown`: this user may not see it.
`other`: it makes no fingerprints. `different`: its settings, text fields or field differ from the mapping. `fits`: it
makes the fingerprints of the mapping."""

_SENTENCES = {
    "none": "none, because index.final_pipeline is not set",
    "missing": "index.{setting} names {pipeline}, which does not exist, so writes fail; install it, or set "
    "index.{setting} to _none",
    "unknown": "index.{setting} names {pipeline}, which this user may not see",
    "other": "{pipeline} (index.{setting}) makes no fingerprints",
    "different": "{pipeline} (index.{setting}) does not match the mapping in its settings, text fields or field; "
    "install it again",
    "fits": "{pipeline} (index.{setting}) makes the fingerprints of the mapping",
}

_SETTINGS = ("final_pipeline", "default_pipeline")
_BEST_FIRST: tuple[PipelineState, ...] = ("fits", "different", "missing", "unknown", "other", "none")
_MAX_DEPTH = 5
"""Maximum levels of pipelines that call other pipelines."""

_OUR_PARAMETERS = {"fields", "into", "format", "token_length"}
"""Parameters by which our script is recognised."""

_Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ingest:
    """The pipeline of an index.

    Attributes:
        state: see `PipelineState`.
        pipeline: the name of the pipeline; empty if there is none.
        setting: the index setting that names it, `final_pipeline` or `default_pipeline`.
    """

    state: PipelineState
    pipeline: str = ""
    setting: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether new documents get no fingerprint, or one that queries cannot compare."""
        return self.state in ("missing", "different")

    def __str__(self) -> str:
        return _SENTENCES[self.state].format(pipeline=printable(self.pipeline), setting=self.setting)


class Pipelines:
    """The pipelines of an engine. Each is read once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, _Body | PipelineState] = {}

    def of_index(self, index: IndexDescription) -> Ingest:
        """Return the pipeline of an index: the one that makes fingerprints, or else the first."""
        settings = index.index_settings
        named = [(str(settings[key]), key) for key in _SETTINGS if settings.get(key, NO_PIPELINE) != NO_PIPELINE]
        pipelines = [Ingest(self._state(name, index), name, key) for name, key in named]
        return min(pipelines, key=lambda ingest: _BEST_FIRST.index(ingest.state), default=Ingest("none"))

    def _state(self, name: str, index: IndexDescription) -> PipelineState:
        body = self._read(name)
        if isinstance(body, str):
            return body
        scripts = list(self._our_scripts(body))
        label = format_label(index.settings) if index.settings else None
        if any(
            script["into"] == index.field and script["format"] == label and index.text_fields in ([], script["fields"])
            for script in scripts
        ):
            return "fits"
        return "different" if scripts else "other"

    def _our_scripts(self, body: _Body, depth: int = _MAX_DEPTH) -> Iterator[_Body]:
        """Yield the parameters of our scripts in a pipeline, and in the pipelines that it calls."""
        for processor in body.get("processors", ()):
            parameters = processor.get("script", {}).get("params", {})
            if parameters.keys() >= _OUR_PARAMETERS:
                yield parameters
            called = processor.get("pipeline", {}).get("name")
            if called and depth and not isinstance(inner := self._read(called), str):
                yield from self._our_scripts(inner, depth - 1)

    def _read(self, name: str) -> _Body | PipelineState:
        if name not in self._known:
            try:
                self._known[name] = self._engine.call("GET", ["_ingest", "pipeline", name]).get(name, "missing")
            except RequestError as error:
                if error.status not in (401, 403, 404):
                    raise
                self._known[name] = "missing" if error.status == 404 else "unknown"
        return self._known[name]
