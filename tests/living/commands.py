"""Compares the answers of all commands for an application with the right ones."""

from __future__ import annotations

import json
from typing import Any

from tests.living.application import NOTE, Application, Document
from tests.living.truth import Key, Truth
from tests.support.cli import answer, output, run, sentence

__all__ = ["Checks"]

ALL = ("--size", "1000")
COMMON_WORDS = len(NOTE.split())
DIGITS = 6
"""Digits that overlaps in JSON have."""


class Checks:
    """Runs all commands, and checks their answers.

    Args:
        application: the application.
        watches: the index of watches.
        sources: number of query documents.

    Attributes:
        watched: the watched documents.
    """

    def __init__(self, application: Application, watches: str, sources: int) -> None:
        self.of = application
        self.watched: list[Key] = []
        self._watches = watches
        self._sources = sources

    def all(self) -> None:
        """Check every command. All documents have the fingerprint of their text."""
        application = self.of
        truth = Truth(application.texts)

        assert application.open_sources == application.stored()
        if not application.left_out:
            self.check_counts()
            assert [] == self.problems()
            assert (0, sorted(application.read_only)) == self.backfill()
        self.check_list()
        for source in application.choose(self._sources):
            self.check_similar(source, truth)
            self.check_passages(source, truth)
            self.check_versions(source, truth)
            self.check_text(source, truth)
        self.check_duplicates(truth)
        self.check_comparison(truth)
        self.check_watches()

    def watch(self, document: Document) -> None:
        """Watch a document."""
        output("watch", document.id, "--overlap", 50, "--watches", self._watches, *self._store)
        self.watched.append(document.key)

    def copied_by(self, document: Document) -> set[Key]:
        """Return the watched documents of which a document is a copy."""
        (arrived,) = self._answer("watch", "--check-new", document.id, "--watches", self._watches)["new_documents"]
        return set(map(_key, arrived["copy_of"]))

    def counts(self) -> dict[str, int]:
        """Return the numbers of `status`, which compares all documents."""
        status = answer("status", self._url, "--sample", 10_000)

        assert [] == status["skipped"]
        counts = {key: status[key] for key in ("document_count", "missing_count", "without_text_count")}
        gone = sum(index["counts"]["text_gone_count"] for index in status["indices"])
        return {**counts, "text_gone_count": gone, "stale": status["staleness"]["stale_count"]}

    def problems(self) -> list[dict[str, Any]]:
        """Return the problems that `check` finds."""
        findings = json.loads(run("check", self._url, "--json").stdout)["findings"]
        return [finding for finding in findings if finding["is_problem"]]

    def backfill(self, *options: str) -> tuple[int, list[str]]:
        """Run `backfill`, and return its number of updates and the skipped indices."""
        result = run("backfill", self._url, "--json", *options)
        report = json.loads(result.stdout)
        skipped = [index["index"] for index in report["skipped_indices"]]

        assert [] == report["refused"]
        assert bool(skipped) == result.exit_code
        return report["updated_count"], skipped

    def refused(self, *command: str) -> str:
        """Return the sentence of a command that fails."""
        return sentence(run(*command, *self._store))

    def check_counts(self) -> None:
        """Check `status` and `info`."""
        number = len(self.of.sources)
        without = sum(not source.get("body") for source in self.of.sources.values())
        expected = {
            "document_count": number,
            "missing_count": 0,
            "without_text_count": without,
            "text_gone_count": 0,
            "stale": 0,
        }

        assert expected == self.counts()
        assert number == self._answer("info")["document_count"]

    def check_list(self) -> None:
        """Check `list`."""
        lines = [json.loads(line) for line in output("list", "--json", *self._store).splitlines()]

        assert sorted(document.key for document in self.of.open_sources) == sorted(map(_key, lines))

    def check_similar(self, source: Document, truth: Truth) -> None:
        """Check `similar`, estimated and exact."""
        estimated = self._answer("similar", source.id, "--overlap", 20, "--estimate", *ALL)
        exact = self._answer("similar", source.id, "--overlap", 20, *ALL)

        assert _rounded(truth.estimated(source.key, 0.2)) == _overlaps(estimated)
        assert _rounded(truth.exact(source.key, 0.2)) == _overlaps(exact)
        assert [] == estimated["left_out"] == exact["left_out"]

    def check_passages(self, source: Document, truth: Truth) -> None:
        """Check `passages`. Documents that share only a common sentence may be left out."""
        result = self._answer("passages", source.id, "--compare-all", *ALL)
        hits, expected = {_key(hit): hit["word_count"] for hit in result["hits"]}, truth.passages(source.key)
        common = {key for key, words in expected.items() if result["too_common_run_count"] and words <= COMMON_WORDS}

        assert {key: words for key, words in expected.items() if key in hits or key not in common} == hits
        assert result["candidate_count"] == result["compared_count"]

    def check_versions(self, source: Document, truth: Truth) -> None:
        """Check `versions`."""
        assert truth.versions(source.key) == set(map(_key, self._answer("versions", source.id, *ALL)["hits"]))

    def check_text(self, source: Document, truth: Truth) -> None:
        """Check `show`."""
        assert truth.texts[source.key] == output("show", source.id, "--text-only", *self._store)

    def check_duplicates(self, truth: Truth) -> None:
        """Check `duplicates`."""
        result = self._answer("duplicates", "--overlap", 80)
        clusters = result["groups"]
        without_text = {document.key for document in self.of.open_sources} - truth.texts.keys()

        assert truth.groups(0.8) == {frozenset(map(_key, [each["kept"], *each["duplicates"]])) for each in clusters}
        assert (without_text, []) == (set(map(_key, result["left_out"])), result["problems"])

    def check_comparison(self, truth: Truth) -> None:
        """Check `compare` with two documents in any indices."""
        first, second = self.of.choose(2)
        overlap = self._answer("compare", first.id, second.id)["details"]["jaccard"]

        assert round(truth.exact(first.key, 0).get(second.key, 0), DIGITS) == round(overlap, DIGITS)

    def check_watches(self) -> None:
        """Check `watch --list`."""
        watches = self._answer("watch", "--list", "--watches", self._watches)["watched"]

        assert sorted(self.watched) == sorted(map(_key, watches))
        assert not any(watch["outdated"] for watch in watches)

    def _answer(self, *command: object) -> Any:
        """Return the answer of a command. It names the indices that it leaves out."""
        result = answer(*command, *self._store)
        left_out = {index["index"]: index["document_count"] for index in result.get("left_out_indices", ())}

        assert self.of.left_out == left_out
        return result

    @property
    def _url(self) -> str:
        return self.of.rolling.url

    @property
    def _store(self) -> tuple[str, str]:
        return "--store", self._url


def _key(hit: dict[str, Any]) -> Key:
    return hit["index"], hit["id"]


def _overlaps(result: dict[str, Any]) -> dict[Key, float]:
    return _rounded({_key(hit): hit["overlap"] for hit in result["hits"]})


def _rounded(overlaps: dict[Key, float]) -> dict[Key, float]:
    return {key: round(overlap, DIGITS) for key, overlap in overlaps.items()}
