"""What an application sees of us in its traces: spans of OpenTelemetry, if it has loaded that; else nothing is done.

Attributes are named as in its semantic conventions (databases and HTTP, stable since 1.33 and 1.23). No id, no text
and no query goes into one, nor the message of an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal


@contextmanager
def span(name: str, kind: Literal["INTERNAL", "CLIENT"] = "INTERNAL", **attributes: str) -> Iterator[None]:
    """A span for the time of a block, or of each call of a function that it decorates.

    Args:
        name: what is done.
        kind: `CLIENT` if another system does it.
        attributes: what else is known, by its name with `_` for a dot.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")  # who records spans has loaded it
    if trace is None:
        yield
        return
    said = {key.replace("_", "."): value for key, value in attributes.items()}
    opened = trace.get_tracer("simdoc_search").start_as_current_span(
        name, kind=trace.SpanKind[kind], attributes=said, record_exception=False, set_status_on_exception=False
    )
    with opened as now:
        try:
            yield
        except BaseException as error:
            status = getattr(error, "status_code", None)
            if isinstance(status, int):
                now.set_attribute("http.response.status_code", status)
            now.set_attribute("error.type", str(status) if isinstance(status, int) else type(error).__name__)
            now.set_status(trace.StatusCode.ERROR)
            raise


def request_span(client: object, method: str, path: Sequence[str]) -> AbstractContextManager[None]:
    """The span of a request to an engine, named by what is asked and of which index, as `search articles`."""
    index = path[0] if path and not path[0].startswith("_") else ""
    operation = next((part[1:] for part in reversed(path) if part.startswith("_")), method.lower())
    system = "opensearch" if type(client).__module__.startswith("opensearchpy") else "elasticsearch"
    named = {"db_collection_name": index} if index else {}
    return span(
        f"{operation} {index}".rstrip(),
        "CLIENT",
        db_system_name=system,
        db_operation_name=operation,
        http_request_method=method,
        **named,
    )
