"""An application with an index template, and an alias or a data stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from tests.support.engines import call

TEMPLATE: dict[str, Any] = {
    "priority": 500,
    "version": 7,
    "_meta": {"owner": "the application"},
    "template": {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.refresh_interval": "5s"},
        "mappings": {
            "dynamic": "strict",
            "properties": {"title": {"type": "text"}, "body": {"type": "text"}, "@timestamp": {"type": "date"}},
        },
    },
}
"""A template of indices that refuse unknown fields."""


class Application:
    """An application with its own names in an engine.

    Attributes:
        url: the URL of the engine.
        name: the name of the alias or data stream, the index template, and the pipeline.
        component: the name of its component template.
    """

    def __init__(self, url: str, name: str = "") -> None:
        self.url = url
        self.name = name or f"app-{uuid4()}"
        self.component = f"{self.name}-own"

    def call(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        """Send a request. `NAME` in the path is the name of the application."""
        return call(self.url, method, path.replace("NAME", self.name), body, **options)

    def make_template(self, **changes: Any) -> None:
        """Create the index template and the component template."""
        own = {"template": {"settings": {"index.default_pipeline": "_none"}}}
        self.call("PUT", f"/_component_template/{self.component}", own)
        body = {"index_patterns": [f"{self.name}*"], "composed_of": [self.component], **TEMPLATE, **changes}
        self.call("PUT", "/_index_template/NAME", body)

    def make_alias(self, **body: Any) -> str:
        """Create the first index and the write alias."""
        first = f"{self.name}-000001"
        self.call("PUT", f"/{first}", {"aliases": {self.name: {"is_write_index": True}}, **body})
        return first

    def template(self) -> Any:
        """Return the index template."""
        answer = self.call("GET", "/_index_template/NAME", allowed_statuses=(404,))
        return answer["index_templates"][0]["index_template"] if "index_templates" in answer else None

    def roll_over(self) -> str:
        """Roll over, and return the name of the new index."""
        return str(self.call("POST", "/NAME/_rollover")["new_index"])

    def write(self, id: str, document: dict[str, Any]) -> str:
        """Write a document, and return the name of its index."""
        source = {"@timestamp": "2026-01-01T00:00:00Z", **document}
        return str(self.call("PUT", f"/NAME/_create/{id}?refresh=true", source)["_index"])

    def install(self, *more: str) -> list[str]:
        """Return the arguments that install the pipeline for the application."""
        texts = ["--text-field", "title", "--text-field", "body"]
        return ["template", "install", self.url, "--pipeline", "--name", self.name, *texts, *more]


@contextmanager
def application(url: str, name: str = "") -> Iterator[Application]:
    """Create an application, and remove it afterwards. The default name matches no index template of the tests."""
    made = Application(url, name)
    try:
        yield made
    finally:
        made.call("DELETE", "/_data_stream/NAME", allowed_statuses=(400, 404, 405))
        if indices := made.call("GET", "/NAME*/_settings?expand_wildcards=all"):
            made.call("DELETE", f"/{','.join(indices)}")
        for path in ("_index_template/NAME", "_template/NAME", f"_component_template/{made.component}"):
            made.call("DELETE", f"/{path}", allowed_statuses=(404,))
        made.call("DELETE", "/_ingest/pipeline/NAME", allowed_statuses=(400, 404))
