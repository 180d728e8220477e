"""Methods that take the fields of an options class as keyword arguments, and are documented with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

Fields = ParamSpec("Fields")
Options = TypeVar("Options")
Owner = TypeVar("Owner")
First = TypeVar("First")
Result = TypeVar("Result")


class takes(Generic[Fields, Options]):  # noqa: N801 - a decorator
    """Decorate a method whose last parameter is an options object, so that callers give the fields instead.

    The signature of the method then has the fields, and its docstring has their docs in place of the argument
    `options`. The method may have one parameter before them::

        @takes(SimilarOptions)
        def similar_many(self, queries: Iterable[Question], options: SimilarOptions) -> ...:

        search.similar_many(["doc123"], overlap=0.5)

    Args:
        options: the options, a dataclass.
    """

    def __init__(self, options: Callable[Fields, Options]) -> None:
        self._options = options

    @overload
    def __call__(
        self, method: Callable[[Owner, Options], Result], /
    ) -> Callable[Concatenate[Owner, Fields], Result]: ...

    @overload
    def __call__(
        self, method: Callable[[Owner, First, Options], Result], /
    ) -> Callable[Concatenate[Owner, First, Fields], Result]: ...

    def __call__(self, method: Callable[..., Any], /) -> Callable[..., Any]:
        """Decorate a method."""
        options = self._options
        signature = inspect.signature(method)
        *parameters, _ = signature.parameters.values()
        fields = inspect.signature(options).parameters.values()

        @wraps(method)
        def with_fields(*args: Any, **fields: Any) -> Any:
            count = len(parameters)
            return method(*args[:count], options(*args[count:], **fields))

        with_fields.__signature__ = signature.replace(parameters=[*parameters, *fields])  # type: ignore[attr-defined]
        with_fields.__doc__ = "\n".join(_documented(inspect.getdoc(method) or "", options))
        return with_fields


def _documented(text: str, options: object) -> Iterator[str]:
    """Yield the lines of a docstring, with the attributes of the options in place of the argument `options`."""
    for line in text.splitlines():
        if not line.startswith("    options: "):
            yield line
            continue
        for base in reversed(inspect.getmro(options)):  # type: ignore[arg-type]
            _, _, attributes = inspect.cleandoc(base.__dict__.get("__doc__") or "").partition("\nAttributes:\n")
            yield from attributes.partition("\n\n")[0].splitlines()
