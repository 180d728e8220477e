"""Finds the Java names that Painless scripts use, and those that an engine allows.

A name is `Map` (a type), `new ArrayList/1`, `Math.min/2`, `Long.MIN_VALUE` or `.charAt/1` (a method of some object).
The number is the number of arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["allowed_in", "names_in", "operators_in", "sources_in"]

_TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9]\w*|==?~|\S")
_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_COMMENT = re.compile(r"//.*")
_KEYWORDS = frozenset({"catch", "for", "if", "return", "while"})


def sources_in(value: Any) -> list[str]:
    """Return all scripts in the body of a pipeline."""
    if isinstance(value, dict):
        nested = [[inner] if key == "source" else sources_in(inner) for key, inner in value.items()]
    else:
        nested = [sources_in(inner) for inner in value] if isinstance(value, list) else []
    return [source for sources in nested for source in sources]


def names_in(source: str) -> set[str]:
    """Return the Java names in a script. For a function that it calls but does not define, return `call of NAME`."""
    tokens = _tokens(source)
    near = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return set(_names(tokens, {name for kind, name, sign in near if sign == "(" and _is_type(kind)}))


def operators_in(source: str) -> set[str]:
    """Return all operators in a script, including those of regular expressions."""
    return {token for token in _tokens(source) if not re.match(r"\w", token)}


def allowed_in(context: Mapping[str, Any]) -> set[str]:
    """Return the names in an answer to `GET _scripts/painless/_context`. Methods include their class."""
    names = set()
    for described in context["classes"]:
        short = described["name"].rpartition(".")[2].replace("$", ".")
        names.add(short)
        names |= {f"new {short}/{len(method['parameters'])}" for method in described["constructors"]}
        names |= {f"{short}.{method['name']}/{len(method['parameters'])}" for method in described["static_methods"]}
        names |= {f"{short}.{field['name']}" for field in described["static_fields"]}
        names |= {
            f"{described['name']}.{method['name']}/{len(method['parameters'])}" for method in described["methods"]
        }
    return names


def _tokens(source: str) -> list[str]:
    without_strings = _STRING.sub('"', source)
    return _TOKEN.findall(_COMMENT.sub("", without_strings))


def _names(tokens: list[str], own: set[str]) -> Iterator[str]:
    place = 0
    while place < len(tokens):
        before, token = tokens[place - 1] if place else "", tokens[place]
        is_called = tokens[place + 1 : place + 2] == ["("]
        if _is_class(token) and before != ".":
            name = token
            while tokens[place + 1 : place + 2] == ["."] and _is_class(tokens[place + 2]):
                name, place = f"{name}.{tokens[place + 2]}", place + 2
            yield name
            if tokens[place + 1 : place + 2] == ["("]:
                yield f"new {name}/{_arguments(tokens, place + 1)}"
            elif tokens[place + 1 : place + 2] == ["."]:
                place += 2
                count = f"/{_arguments(tokens, place + 1)}" if tokens[place + 1 : place + 2] == ["("] else ""
                yield f"{name}.{tokens[place]}{count}"
        elif before == "." and is_called:
            yield f".{token}/{_arguments(tokens, place + 1)}"
        elif is_called and re.match(r"[a-z]", token) and token not in own | _KEYWORDS:
            yield f"call of {token}"
        place += 1


def _arguments(tokens: list[str], start: int) -> int:
    """Count the arguments in the brackets that open at a token."""
    depth, count = 0, 1
    for place in range(start, len(tokens)):
        depth += (tokens[place] in "([{") - (tokens[place] in ")]}")
        count += tokens[place] == "," and depth == 1
        if not depth:
            return count if place > start + 1 else 0
    raise ValueError("a bracket is not closed")


def _is_class(token: str) -> bool:
    """Return whether a token is the name of a class. The name of a constant has no lowercase letters."""
    return bool(re.match(r"[A-Z]\w*[a-z]", token))


def _is_type(token: str) -> bool:
    return _is_class(token) or token in {"]", "boolean", "byte", "char", "def", "int", "long", "void"}
