"""What our scripts in Painless use of Java, and what an engine says that scripts may use.

A name is `Map` (a type), `new ArrayList/1`, `Math.min/2`, `Long.MIN_VALUE` or `.charAt/1` (a method of some object).
The number is that of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.attach.pipeline import pipeline_body

__all__ = ["allowed_in", "names_in", "operators_in", "our_scripts", "properties_in", "sources_in"]

_TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9]\w*|==?~|\S")
_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_COMMENT = re.compile(r"//.*")
_KEYWORDS = frozenset({"catch", "for", "if", "return", "while"})


def our_scripts() -> dict[str, str]:
    """All scripts that we give to engines, by the context in which they run."""
    return {"ingest": "\n".join(sources_in(pipeline_body()))}


def sources_in(value: Any) -> list[str]:
    """All scripts in the body of a pipeline."""
    if isinstance(value, dict):
        return [each for key, inner in value.items() for each in ([inner] if key == "source" else sources_in(inner))]
    return [each for inner in value for each in sources_in(inner)] if isinstance(value, list) else []


def names_in(source: str) -> set[str]:
    """The names of Java that a script uses; of functions that it calls without having them, `call of NAME`."""
    tokens = _tokens(source)
    own = {
        name for kind, name, sign in zip(tokens, tokens[1:], tokens[2:], strict=False) if sign == "(" and _is_type(kind)
    }
    return set(_names(tokens, own))


def properties_in(source: str) -> set[str]:
    """What follows a dot without being called: keys of maps, and the length of arrays."""
    tokens = _tokens(source)
    near = zip(["", *tokens], tokens, tokens[1:], [*tokens[2:], ""], strict=False)
    return {name for before, dot, name, after in near if dot == "." and after != "(" and not _is_class(before)}


def operators_in(source: str) -> set[str]:
    """All signs of a script: those of regular expressions are among them if it has any."""
    return {token for token in _tokens(source) if not re.match(r"\w", token)}


def allowed_in(context: Mapping[str, Any]) -> set[str]:
    """The names that an engine allows, by its answer to `GET _scripts/painless/_context`; methods with their class."""
    found = set()
    for each in context["classes"]:
        short = each["name"].rpartition(".")[2].replace("$", ".")
        found.add(short)
        found |= {f"new {short}/{len(made['parameters'])}" for made in each["constructors"]}
        found |= {f"{short}.{made['name']}/{len(made['parameters'])}" for made in each["static_methods"]}
        found |= {f"{short}.{made['name']}" for made in each["static_fields"]}
        found |= {f"{each['name']}.{made['name']}/{len(made['parameters'])}" for made in each["methods"]}
    return found


def _tokens(source: str) -> list[str]:
    without_strings = _STRING.sub('"', source)
    return _TOKEN.findall(_COMMENT.sub("", without_strings))


def _names(tokens: list[str], own: set[str]) -> Iterator[str]:
    at = 0
    while at < len(tokens):
        before, token = tokens[at - 1] if at else "", tokens[at]
        called = tokens[at + 1 : at + 2] == ["("]
        if _is_class(token) and before != ".":
            name = token
            while tokens[at + 1 : at + 2] == ["."] and _is_class(tokens[at + 2]):
                name, at = f"{name}.{tokens[at + 2]}", at + 2
            yield name
            if tokens[at + 1 : at + 2] == ["("]:
                yield f"new {name}/{_arguments(tokens, at + 1)}"
            elif tokens[at + 1 : at + 2] == ["."]:
                at += 2
                count = f"/{_arguments(tokens, at + 1)}" if tokens[at + 1 : at + 2] == ["("] else ""
                yield f"{name}.{tokens[at]}{count}"
        elif before == "." and called:
            yield f".{token}/{_arguments(tokens, at + 1)}"
        elif called and re.match(r"[a-z]", token) and token not in own | _KEYWORDS:
            yield f"call of {token}"
        at += 1


def _arguments(tokens: list[str], start: int) -> int:
    """How many there are between the bracket at a place and the one that closes it."""
    depth, count = 0, 1
    for at in range(start, len(tokens)):
        depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
        count += tokens[at] == "," and depth == 1
        if not depth:
            return count if at > start + 1 else 0
    raise ValueError("a bracket is not closed")


def _is_class(token: str) -> bool:
    """Whether it is the name of a class; that of a constant has no small letters."""
    return bool(re.match(r"[A-Z]\w*[a-z]", token))


def _is_type(token: str) -> bool:
    return _is_class(token) or token in {"]", "boolean", "byte", "char", "def", "int", "long", "void"}
