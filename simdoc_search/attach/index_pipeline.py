"""Finds the pipeline that computes the fingerprints of an index, and compares its settings with the mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simdoc_search.attach.indices import IndexDescription
from simdoc_search.attach.pipeline import UNSUPPORTED_KINDS
from simdoc_search.display import printable
from simdoc_search.stores.remote.advice import install_pipeline_command
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.pipelines import NO_PIPELINE, fingerprint_parameters
from simdoc_search.stores.remote.schema import format_label, without_kinds

PipelineState = Literal["none", "missing", "unknown", "unrelated", "different", "fits"]
"""`none`: the index has no pipeline. `missing`: its pipeline does not exist. `unknown`: this user may not read it.
`unrelated`: it does not compute fingerprints. `different`: it computes fingerprints with settings, text fields or a
fingerprint field that differ from the mapping. `fits`: it computes fingerprints that match the mapping."""

_DESCRIPTIONS = {
    "none": "none, because index.final_pipeline does not name a pipeline",
    "missing": "index.{setting} is set to {pipeline}, which does not exist, so writes fail; run `{command}`, or set "
    "index.{setting} to _none",
    "unknown": "index.{setting} is set to {pipeline}, which you have no permission to read",
    "unrelated": "{pipeline} (index.{setting}) does not compute fingerprints",
    "different": "{pipeline} (index.{setting}) uses settings, text fields or a fingerprint field that differ from the "
    "mapping; run `{command}`",
    "fits": "{pipeline} (index.{setting}) computes fingerprints that match the mapping",
}

PIPELINE_SETTINGS = ("final_pipeline", "default_pipeline")
_STATES_BY_PRECEDENCE: tuple[PipelineState, ...] = ("fits", "different", "missing", "unknown", "unrelated", "none")
"""If an index has two pipelines, the one whose state comes first here is reported."""

_MAX_CALL_DEPTH = 5
"""Maximum depth of pipelines that call other pipelines."""

_Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IndexPipeline:
    """The pipeline of an index.

    `setting` is the index setting that names it, `final_pipeline` or `default_pipeline`. `command` installs it. Name,
    setting and command may be empty.
    """

    state: PipelineState
    name: str = ""
    setting: str = ""
    command: str = ""

    @property
    def is_faulty(self) -> bool:
        """Whether the pipeline does not exist, so that writes fail, or its fingerprints do not match the mapping."""
        return self.state in ("missing", "different")

    def __str__(self) -> str:
        values = {"pipeline": printable(self.name), "setting": self.setting, "command": printable(self.command)}
        return _DESCRIPTIONS[self.state].format(**values)


class PipelineReader:
    """Reads the pipelines of an engine. Each pipeline is read once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cache: dict[str, _Body | PipelineState] = {}

    def find_pipeline(self, index: IndexDescription) -> IndexPipeline:
        """Return the final or default pipeline of an index: the one whose state is first in `_STATES_BY_PRECEDENCE`."""
        settings = index.index_settings
        named = [
            (str(settings[key]), key) for key in PIPELINE_SETTINGS if settings.get(key, NO_PIPELINE) != NO_PIPELINE
        ]
        pipelines = [
            IndexPipeline(self._find_state(name, index), name, key, self._format_command(name, key, index))
            for name, key in named
        ]
        return min(
            pipelines, key=lambda pipeline: _STATES_BY_PRECEDENCE.index(pipeline.state), default=IndexPipeline("none")
        )

    def _format_command(self, name: str, setting: str, index: IndexDescription) -> str:
        options = ["--index", index.name] if setting == "final_pipeline" else []
        return install_pipeline_command(self._engine.name, name, index.text_fields or ["FIELD"], index.field, *options)

    def _find_state(self, name: str, index: IndexDescription) -> PipelineState:
        body = self._read_pipeline(name)
        if isinstance(body, str):
            return body
        scripts = list(self._find_scripts(body))
        labels = (
            {format_label(index.settings), format_label(without_kinds(index.settings, UNSUPPORTED_KINDS))}
            if index.settings
            else ()
        )
        if any(
            script["into"] == index.field and script["format"] in labels and index.text_fields in ([], script["fields"])
            for script in scripts
        ):
            return "fits"
        return "different" if scripts else "unrelated"

    def _find_scripts(self, body: _Body, depth: int = _MAX_CALL_DEPTH) -> Iterator[_Body]:
        """Yield the parameters of the fingerprint scripts in a pipeline, and in the pipelines that it calls."""
        for processor in body.get("processors", ()):
            if parameters := fingerprint_parameters(processor):
                yield parameters
            called = processor.get("pipeline", {}).get("name")
            if called and depth and not isinstance(inner := self._read_pipeline(called), str):
                yield from self._find_scripts(inner, depth - 1)

    def _read_pipeline(self, name: str) -> _Body | PipelineState:
        if name not in self._cache:
            try:
                self._cache[name] = self._engine.call("GET", ["_ingest", "pipeline", name]).get(name, "missing")
            except RequestError as error:
                if error.status not in (401, 403, 404):
                    raise
                self._cache[name] = "missing" if error.status == 404 else "unknown"
        return self._cache[name]
