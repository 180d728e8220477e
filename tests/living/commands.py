"""Every command over the alias or data stream of an application answers what comparing all its texts does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.living.application import NOTE, Application, Document
from tests.living.truth import Key, Truth
from tests.support.cli import answer, output, run, sentence

__all__ = ["Checks"]

ALL = ("--size", "1000")
SAID_OFTEN = len(NOTE.split())
DIGITS = 6
"""In which overlaps of JSON are the same."""


class Checks:
    """Asks all commands, and compares what they answer with what is so.

    Args:
        application: whose documents are asked about.
        watches: the index of watches; what is watched is noted here.
        sources: about how many documents is asked.
    """

    def __init__(self, application: Application, watches: str, sources: int) -> None:
        self.of = application
        self.watched: list[Key] = []
        self._watches = watches
        self._sources = sources

    def all(self) -> None:
        """Every command; all documents have the fingerprint of their text."""
        application = self.of
        truth = Truth(application.texts)

        assert application.open_sources == application.stored()
        if not application.left_out:
            self.documents_are_counted()
            assert [] == self.problems()
            assert (0, sorted(application.read_only)) == self.backfilled()
        self.documents_are_listed()
        for source in application.some(self._sources):
            self.similar(source, truth)
            self.passages(source, truth)
            self.versions(source, truth)
            self.shown(source, truth)
        self.duplicates(truth)
        self.compared(truth)
        self.listed_watches()

    def watch(self, document: Document) -> None:
        """A standing query for copies of it."""
        output("watch", document.id, "--overlap", 50, "--watches", self._watches, *self._store)
        self.watched.append(document.key)

    def arrived(self, document: Document) -> set[Key]:
        """Of which watched documents it is a copy."""
        found = self._answer("watch", "--arrived", document.id, "--watches", self._watches)["arrived"]
        return {_key(each) for each in found[0]["copy_of"]}

    def counts(self) -> dict[str, int]:
        """What `status` says of all documents: it makes each fingerprint again."""
        found = answer("status", self._url, "--sample", 10_000)

        assert [] == found["skipped"]
        counts = {key: found[key] for key in ("documents", "missing", "without_text")}
        gone = sum(each["counts"]["text_gone"] for each in found["indices"])
        return {**counts, "text_gone": gone, "stale": found["staleness"]["stale"]}

    def problems(self) -> list[dict[str, Any]]:
        """What `check` finds wrong; what users should not see in answers of the application is a note."""
        found = json.loads(run("check", self._url, "--json").stdout)["findings"]
        return [each for each in found if each["wrong"]]

    def backfilled(self, *options: str) -> tuple[int, list[str]]:
        """How many documents `backfill` gives fingerprints, and which indices it cannot write."""
        result = run("backfill", self._url, "--json", *options)
        done = json.loads(result.stdout)
        left_out = [each["index"] for each in done["skipped_indices"]]

        assert [] == done["refused"]
        assert bool(left_out) == result.exit_code
        return done["updated"], left_out

    def refused(self, *command: str) -> str:
        """The sentence of a command that has no answer."""
        return sentence(run(*command, *self._store))

    def documents_are_counted(self) -> None:
        """By `status` and `info`; all have the fingerprint of their text."""
        number = len(self.of.sources)
        without = sum(not source.get("body") for source in self.of.sources.values())

        expected = {"documents": number, "missing": 0, "without_text": without, "text_gone": 0, "stale": 0}

        assert expected == self.counts()
        assert number == self._answer("info")["documents"]

    def documents_are_listed(self) -> None:
        """By `list`."""
        lines = [json.loads(line) for line in output("list", "--json", *self._store).splitlines()]

        assert sorted(document.key for document in self.of.open_sources) == sorted(map(_key, lines))

    def similar(self, source: Document, truth: Truth) -> None:
        """By the fingerprints, and by the texts."""
        estimated = self._answer("similar", source.id, "--overlap", 20, "--estimate", *ALL)
        exact = self._answer("similar", source.id, "--overlap", 20, *ALL)

        assert _rounded(truth.estimated(source.key, 0.2)) == _overlaps(estimated)
        assert _rounded(truth.exact(source.key, 0.2)) == _overlaps(exact)
        assert [] == estimated["left_out"] == exact["left_out"]

    def passages(self, source: Document, truth: Truth) -> None:
        """By the texts. What so many documents say that not all of them are read is counted, and short."""
        found = self._answer("passages", source.id, "--all", *ALL)
        hits, expected = {_key(hit): hit["words"] for hit in found["hits"]}, truth.passages(source.key)
        common = {key for key, words in expected.items() if found["too_common"] and words <= SAID_OFTEN}

        assert {key: words for key, words in expected.items() if key in hits or key not in common} == hits
        assert found["candidates"] == found["compared"]

    def versions(self, source: Document, truth: Truth) -> None:
        """By the sentences."""
        found = self._answer("versions", source.id, *ALL)

        assert truth.versions(source.key) == {_key(hit) for hit in found["hits"]}

    def shown(self, source: Document, truth: Truth) -> None:
        """By `show`."""
        assert truth.texts[source.key] == output("show", source.id, "--text", *self._store).rstrip("\n")

    def duplicates(self, truth: Truth) -> None:
        """All of them."""
        found = self._answer("duplicates", "--overlap", 80)
        groups = {frozenset(_group(each)) for each in found["clusters"]}

        others = {each.key for each in self.of.open_sources} - truth.texts.keys()

        assert truth.groups(0.8) == groups
        assert (others, []) == (set(map(_key, found["left_out"])), found["problems"])

    def compared(self, truth: Truth) -> None:
        """Two documents, in whichever index each of them is."""
        first, second = self.of.some(2)
        found = self._answer("compare", first.id, second.id)["details"]["jaccard"]

        assert round(truth.exact(first.key, 0).get(second.key, 0), DIGITS) == round(found, DIGITS)

    def listed_watches(self) -> None:
        """Those that were set; none is of other settings."""
        found = self._answer("watch", "--list", "--watches", self._watches)["watched"]

        assert sorted(self.watched) == sorted(map(_key, found))
        assert not any(each["outdated"] for each in found)

    def _answer(self, *command: object) -> Any:
        """What a command answers, which names what it leaves out."""
        found = answer(*command, *self._store)
        left_out = {each["index"]: each["documents"] for each in found.get("left_out_indices", ())}

        assert self.of.left_out == left_out
        return found

    @property
    def _url(self) -> str:
        return self.of.rolling.url

    @property
    def _store(self) -> tuple[str, str]:
        return "--store", self._url


def _key(hit: dict[str, Any]) -> Key:
    return hit["index"], hit["id"]


def _overlaps(found: dict[str, Any]) -> dict[Key, float]:
    return _rounded({_key(hit): hit["overlap"] for hit in found["hits"]})


def _rounded(overlaps: dict[Key, float]) -> dict[Key, float]:
    return {key: round(each, DIGITS) for key, each in overlaps.items()}


def _group(cluster: dict[str, Any]) -> Iterator[Key]:
    yield _key(cluster["kept"])
    for each in cluster["duplicates"]:
        yield _key(each)
