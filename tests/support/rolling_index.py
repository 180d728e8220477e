"""An alias or data stream of an application that rolls over, with an index template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from tests.support.cli import output
from tests.support.engines import call, own_name

__all__ = ["Rolling", "has_data_streams", "rolling"]

PRIORITY = 900
"""A higher priority than that of the index template for all tests."""


@dataclass(frozen=True)
class Rolling:
    """An alias or data stream that an application writes and queries."""

    engine: str  # the URL of the engine
    name: str  # the alias or data stream
    is_stream: bool  # whether it is a data stream

    @property
    def url(self) -> str:
        """The value for `--store`."""
        return f"{self.engine}/{self.name}"

    def write(self, id: str, source: Mapping[str, Any], **parameters: str) -> dict[str, Any]:
        """Write a document, and return the answer of the engine, which names the index."""
        query = urlencode({"refresh": "true", **parameters})
        kind, stamp = ("_create", {"@timestamp": "2026-11-01"}) if self.is_stream else ("_doc", {})
        answer = call(self.engine, "PUT", f"/{self.name}/{kind}/{quote(id, safe='')}?{query}", stamp | dict(source))
        return dict(answer)

    def roll_over(self) -> str:
        """Roll over, and return the name of the new write index."""
        return str(call(self.engine, "POST", f"/{self.name}/_rollover")["new_index"])

    def hits(self, **body: Any) -> list[dict[str, Any]]:
        """Return all documents."""
        return list(call(self.engine, "POST", f"/{self.name}/_search", {"size": 1000, **body})["hits"]["hits"])


@contextmanager
def rolling(
    engine: str,
    properties: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    is_stream: bool = False,
    text_field: str = "body",
) -> Iterator[Rolling]:
    """Create an alias or a data stream whose indices have our field and pipeline, and remove it afterwards."""
    name = own_name()
    body = {
        "index_patterns": [f"{name}*"],
        "priority": PRIORITY,
        "template": {
            "settings": {"number_of_replicas": 0, **(settings or {})},
            "mappings": {"properties": {text_field: {"type": "text"}, **(properties or {})}},
        },
        **({"data_stream": {}} if is_stream else {}),
    }
    call(engine, "PUT", f"/_index_template/{name}", body)
    pipeline = ["--pipeline", "--text-field", text_field, "--name", name]
    output("template", "install", engine, *pipeline, "--index-template", name, "--force")
    try:
        if is_stream:
            call(engine, "PUT", f"/_data_stream/{name}")
        else:
            call(engine, "PUT", f"/{name}-000001", {"aliases": {name: {"is_write_index": True}}})
        yield Rolling(engine, name, is_stream)
    finally:
        call(engine, "DELETE", f"/_data_stream/{name}" if is_stream else f"/{name}-*")
        call(engine, "DELETE", f"/_index_template/{name}")
        call(engine, "DELETE", f"/_ingest/pipeline/{name}")


def has_data_streams(engine: str) -> bool:
    """Return whether the engine has data streams. The free Elasticsearch has none."""
    return "data_streams" in call(engine, "GET", "/_data_stream", allowed_statuses=(400, 404, 405))
