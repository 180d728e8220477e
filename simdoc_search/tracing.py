"""Records OpenTelemetry spans if the application has loaded OpenTelemetry.

Attribute names follow the semantic conventions for databases (1.33) and HTTP (1.23). No attribute contains an
id, a text, a query or an error message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal


@contextmanager
def span(name: str, kind: Literal["INTERNAL", "CLIENT"] = "INTERNAL", **attributes: str) -> Iterator[None]:
    """Record a span for a block, or for each call of a decorated function.

    Args:
        name: name of the span.
        kind: `CLIENT` if another system does the work.
        attributes: attributes of the span. Each `_` in a name stands for a dot.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield
        return
    dotted_attributes = {key.replace("_", "."): value for key, value in attributes.items()}
    span_context = trace.get_tracer("simdoc_search").start_as_current_span(
        name,
        kind=trace.SpanKind[kind],
        attributes=dotted_attributes,
        record_exception=False,
        set_status_on_exception=False,
    )
    with span_context as current:
        try:
            yield
        except BaseException as error:
            status = getattr(error, "status_code", None)
            if isinstance(status, int):
                current.set_attribute("http.response.status_code", status)
            current.set_attribute("error.type", str(status) if isinstance(status, int) else type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise


def request_span(client: object, method: str, path_parts: Sequence[str]) -> AbstractContextManager[None]:
    """Record a span for a request to an engine. Its name is the operation and the index, such as `search articles`."""
    index = path_parts[0] if path_parts and not path_parts[0].startswith("_") else ""
    operation = next((part[1:] for part in reversed(path_parts) if part.startswith("_")), method.lower())
    system = "opensearch" if type(client).__module__.startswith("opensearchpy") else "elasticsearch"
    collection = {"db_collection_name": index} if index else {}
    return span(
        f"{operation} {index}".rstrip(),
        "CLIENT",
        db_system_name=system,
        db_operation_name=operation,
        http_request_method=method,
        **collection,
    )
