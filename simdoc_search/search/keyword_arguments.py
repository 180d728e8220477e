"""A decorator for methods that take the fields of an options class as keyword arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

Fields = ParamSpec("Fields")
Options = TypeVar("Options")
Owner = TypeVar("Owner")
FirstParameter = TypeVar("FirstParameter")
Result = TypeVar("Result")


class accept_fields_of(Generic[Fields, Options]):  # noqa: N801 - used as a decorator
    """Decorate a method whose last parameter is an options object, so that callers pass its fields instead.

    The fields replace the argument `options` in the signature and in the docstring. The errors of the options class
    are added to the docstring. The method can have one other parameter before the options::

        @accept_fields_of(SimilarOptions)
        def similar_many(self, queries: Iterable[Query], options: SimilarOptions) -> ...:

        search.similar_many(["doc123"], overlap=0.5)

    Args:
        options: the options class; a dataclass.
    """

    def __init__(self, options: Callable[Fields, Options]) -> None:
        self._options = options

    @overload
    def __call__(
        self, method: Callable[[Owner, Options], Result], /
    ) -> Callable[Concatenate[Owner, Fields], Result]: ...

    @overload
    def __call__(
        self, method: Callable[[Owner, FirstParameter, Options], Result], /
    ) -> Callable[Concatenate[Owner, FirstParameter, Fields], Result]: ...

    def __call__(self, method: Callable[..., Any], /) -> Callable[..., Any]:
        """Return the decorated method."""
        options = self._options
        signature = inspect.signature(method)
        *parameters, _ = signature.parameters.values()
        fields = inspect.signature(options).parameters.values()

        @wraps(method)
        def call_with_fields(*args: Any, **fields: Any) -> Any:
            count = len(parameters)
            return method(*args[:count], options(*args[count:], **fields))

        call_with_fields.__signature__ = signature.replace(parameters=[*parameters, *fields])  # type: ignore[attr-defined]
        call_with_fields.__doc__ = "\n".join(_merge_docstrings(inspect.getdoc(method) or "", cast(type, options)))
        return call_with_fields


def _merge_docstrings(text: str, options: type) -> Iterator[str]:
    """Yield the lines of a docstring, with the attributes of the options class and of its base classes."""
    classes = inspect.getmro(options)
    for line in text.splitlines():
        if line.startswith("    options: "):
            for base in reversed(classes):
                yield from _read_docstring_section(base, "Attributes")
            continue
        yield line
        if line == "Raises:":
            yield from max((_read_docstring_section(base, "Raises") for base in classes), key=len)


def _read_docstring_section(documented_class: type, name: str) -> list[str]:
    """Return the lines of a section in the docstring of a class."""
    text = inspect.cleandoc(documented_class.__dict__.get("__doc__") or "")
    return text.partition(f"\n{name}:\n")[2].partition("\n\n")[0].splitlines()
