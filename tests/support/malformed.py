"""Malformed answers: a good one, in which something is missing, of another kind, huge, or no JSON at all.

What is made is never another good answer: no id, no text and no number is exchanged for one that might be true, as
nobody can tell those apart. What others wrote into documents (`_source`) is left as it is, too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.support.http_server import Answer, Handler, Request

__all__ = ["Malformed", "malformed", "once_malformed"]

Path = tuple[Any, ...]

_KEPT = frozenset({"_source", "aliases", "took", "max_score", "_version", "_ignored"})
"""Keys below which nothing is changed, because it may be anything, or because nobody reads it."""


@dataclass(frozen=True)
class Malformed:
    """An answer, and what was done to it."""

    what: str
    answer: Answer


def malformed(rng: random.Random, answer: Answer) -> Malformed:
    """A malformed form of a good answer with a JSON object."""
    value = json.loads(answer.body)
    if rng.random() < 0.25 or not (paths := list(_paths(value))):
        what, spoil = rng.choice(list(_BODIES.items()))
        return Malformed(what, spoil(rng, answer))
    path = rng.choice(paths)
    what, change = rng.choice(list(_CHANGES.items()))
    shown = ".".join(map(str, path))
    return Malformed(f"{what} at {shown}", replace(answer, body=json.dumps(change(value, path)).encode()))


def once_malformed(handle: Handler, rng: random.Random, number: int, seen: list[str]) -> Handler:
    """An engine whose answer to the request of this number, from 0, is malformed; `seen` gets what was done."""
    count = iter(range(1 << 30))

    def handle_one(request: Request) -> Answer | None:
        done = handle(request)
        if next(count) != number or done is None or not done.body.startswith(b"{"):
            return done
        made = malformed(rng, done)
        seen.append(f"{request.method} {request.path}: {made.what}: {made.answer.body[:300]!r}")
        return made.answer

    return handle_one


def _paths(value: Any, above: Path = ()) -> Iterator[Path]:
    """The ways to all parts of a value that may be changed."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in parts:
        if key not in _KEPT:
            yield (*above, key)
            yield from _paths(each, (*above, key))


def _changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    key, *rest = path
    if isinstance(value, dict):
        return {k: _changed(each, tuple(rest), change) if k == key else each for k, each in value.items()}
    return [_changed(each, tuple(rest), change) if n == key else each for n, each in enumerate(value)]


def _removed(value: Any, path: Path) -> Any:
    *above, last = path

    def without(parent: Any) -> Any:
        if isinstance(parent, dict):
            return {key: each for key, each in parent.items() if key != last}
        return [each for number, each in enumerate(parent) if number != last]

    return _changed(value, tuple(above), without)


def _to(make: Callable[[Any], Any]) -> Callable[[Any, Path], Any]:
    return lambda value, path: _changed(value, path, make)


def _other_kind(value: Any) -> Any:
    return {"x": value} if not isinstance(value, dict) else [value]


_CHANGES: dict[str, Callable[[Any, Path], Any]] = {
    "missing": _removed,
    "null": _to(lambda _: None),
    "wrapped": _to(_other_kind),
    "an empty object": _to(lambda value: {} if not isinstance(value, dict) else []),
    "an empty list": _to(lambda value: [] if not isinstance(value, list) else {}),
    "a fraction": _to(lambda value: 0.5 if not isinstance(value, float) else "0.5"),
    "below zero": _to(lambda _: -1),
    "huge": _to(lambda _: 10**40),
    "endless": _to(lambda _: float("inf")),
    "no number": _to(lambda _: float("nan")),
    "deep": _to(lambda _: json.loads("[" * 500 + "]" * 500)),
}

_BODIES: dict[str, Callable[[random.Random, Answer], Answer]] = {
    "empty": lambda _, answer: replace(answer, body=b""),
    "cut short": lambda rng, answer: replace(answer, body=answer.body[: rng.randrange(1, len(answer.body))]),
    "connection lost": lambda _, answer: replace(answer, cut=True),
    "HTML": lambda _, answer: replace(answer, body=b"<html><h1>Sorry</h1></html>", kind="text/html"),
    "HTML called JSON": lambda _, answer: replace(answer, body=b"<html><h1>Sorry</h1></html>"),
    "JSON called text": lambda _, answer: replace(answer, kind="text/plain"),
    "JSON of no kind": lambda _, answer: replace(answer, kind="application/octet-stream"),
    "a list": lambda _, answer: replace(answer, body=b"[" + answer.body + b"]"),
    "null": lambda _, answer: replace(answer, body=b"null"),
    "a number": lambda _, answer: replace(answer, body=b"7"),
    "a text": lambda _, answer: replace(answer, body=b'"sorry"'),
    "no UTF-8": lambda _, answer: replace(answer, body=answer.body.replace(b'"', b'"\xff\xfe', 1)),
    "too deep": lambda _, answer: replace(answer, body=b'{"a":' * 100_000),
    "a number of 10,000 digits": lambda _, answer: replace(answer, body=b'{"count":' + b"9" * 10_000 + b"}"),
    "another object": lambda _, answer: replace(answer, body=b'{"message": "hello"}'),
    "an error called good": lambda _, answer: replace(answer, body=b'{"error": {"type": "x"}, "status": 500}'),
    "a list called error": lambda _, answer: replace(answer, status=500, body=b'["sorry"]'),
    "an odd error": lambda _, answer: replace(answer, status=400, body=b'{"error": {"root_cause": [7], "reason": {}}}'),
    "an error of lists": lambda _, answer: replace(answer, status=404, body=b'{"error": [["x"]], "status": []}'),
    "an odd status": lambda rng, answer: replace(answer, status=rng.choice([299, 300, 418, 599, 999])),
}
