"""`simdoc-search tune --for versions` and `--for related`: which limits call pairs as a person does?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from simdoc_search.cli.common import print_json, say
from simdoc_search.display import counted, percent, printable

if TYPE_CHECKING:
    from simdoc_search.sketch.limits import Limits
    from simdoc_search.stores.base import Store
    from simdoc_search.tuning import Calls, LabelledPair, LearnedLimits

_SHOWN = 10
"""Pairs that are called otherwise, listed for people."""


def check_only_pairs(what: str, pairs: object, others: Mapping[str, object]) -> None:
    """Refuse options that measure sketches, where limits are learned.

    Raises:
        UsageError: there are no pairs, or another option is given.
    """
    if pairs is None:
        raise click.UsageError(f"--for {what} learns from pairs; name their file with --pairs")
    if given := next((name for name, value in others.items() if value), None):
        raise click.UsageError(f"{given} measures sketches; leave it out with --for {what}")


def store_of(texts: Mapping[str, str], what: Literal["versions", "related"]) -> Store:
    """A store in memory of the documents of a folder."""
    from simdoc_search.documents import Document
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.sketch.concepts import Concepts
    from simdoc_search.sketch.sentences import Sentences
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores import open_store

    settings = Settings(sentences=Sentences(), concepts=Concepts() if what == "related" else None)
    store = open_store(":memory:", settings, create=True)
    SimilaritySearch(store).index(Document(id, text) for id, text in texts.items())
    return store


def say_limits(
    store: Store,
    judged: Sequence[LabelledPair],
    what: Literal["versions", "related"],
    place: str | None,
    *,
    as_json: bool,
) -> None:
    """Learn the limits, and print what was learned.

    Args:
        store: where the documents are.
        judged: the pairs.
        what: what they are about.
        place: where the index is that can store the limits; None: it is in memory.
        as_json: print one JSON object.
    """
    from simdoc_search.tuning import limits_of_related, limits_of_versions

    found = (limits_of_versions if what == "versions" else limits_of_related)(store, judged)
    command = _command(found, place)
    if as_json:
        print_json(_as_dict(found, command))
        return
    for line in _lines(found, command):
        say(line)


def _lines(found: LearnedLimits, command: str) -> Iterator[str]:
    pairs = found.calls.yes + found.calls.no
    yield f"{counted(pairs, 'pair')}: {found.calls.yes:,} yes, {found.calls.no:,} no; each pair is compared directly"
    yield ""
    yield f"{'':<34}{'precision':>10}{'recall':>9}"
    yield _row(f"now: {_shown(found, found.before)}", found.calls_before)
    yield _row(f"best: {_shown(found, found.limits)}", found.calls)
    yield _row("on pairs that did not teach it", found.unseen)
    yield ""
    for each in found.wrong[:_SHOWN]:
        said = "yes" if each.same else "no"
        yield printable(f"line {each.line}: {each.a!r} and {each.b!r} are a {said}, and are called otherwise")
    if len(found.wrong) > _SHOWN:
        yield f"and {counted(len(found.wrong) - _SHOWN, 'pair')} more are called otherwise; --json has all"
    if not found.changed:
        yield "The limits that hold now are as good as any; nothing to store."
    elif command:
        yield f"Store them: {command}"


def _row(name: str, calls: Calls) -> str:
    precision = "-" if calls.precision is None else percent(calls.precision, 1)
    return f"{name:<35}{precision:>9}{percent(calls.recall, 1):>9}"


def _shown(found: LearnedLimits, limits: Limits) -> str:
    if found.what == "related":
        return f"score {limits.min_score:g}"
    return f"{limits.bits} bits, {100 * limits.enough:g} % of sentences"


def _command(found: LearnedLimits, place: str | None) -> str:
    """What stores the limits; empty: none are better."""
    if not found.changed:
        return ""
    limits = found.limits
    options = ["--bits", str(limits.bits), "--enough", f"{100 * limits.enough:.6g}"]
    if found.what == "related":
        options = ["--min-score", f"{limits.min_score:.6g}"]
    return shlex.join(["simdoc-search", "defaults", *options, *(["--store", place] if place else [])])


def _as_dict(found: LearnedLimits, command: str) -> dict[str, Any]:
    return {
        "for": found.what,
        "before": {"limits": asdict(found.before), **_calls_as_dict(found.calls_before)},
        "best": {"limits": asdict(found.limits), **_calls_as_dict(found.calls)},
        "unseen": _calls_as_dict(found.unseen),
        "wrong": [{"a": each.a, "b": each.b, "yes": each.same, "line": each.line} for each in found.wrong],
        "command": command or None,
    }


def _calls_as_dict(calls: Calls) -> dict[str, Any]:
    return {"precision": calls.precision, "recall": calls.recall, **asdict(calls)}
