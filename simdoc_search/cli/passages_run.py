"""One call of `simdoc-search passages`: it asks about one text or many, and says what is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import Shown
from simdoc_search.cli.common import Interrupted, document_progress, print_json, say
from simdoc_search.cli.index_output import print_skipped
from simdoc_search.cli.passages_output import SUM_HEAD, Summary, answer_as_json, asked_as_json, lines_of, sum_of
from simdoc_search.cli.passages_page import write_page
from simdoc_search.cli.passages_query import Answer, Asking
from simdoc_search.cli.passages_sources import Asked, Files, asked_documents
from simdoc_search.display import counted
from simdoc_search.documents import Skipped
from simdoc_search.errors import NoFingerprintError, SimdocError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable


class PassageRun:
    """One call of the command: what it asks, and how it answers."""

    def __init__(self, asking: Asking, shown: Shown, html: Path | None, as_json: bool) -> None:
        self._asking, self._shown, self._html, self._as_json = asking, shown, html, as_json
        self._summary = Summary(asking.search.store)
        self._answers: list[Answer] = []  # those that the page shows
        self._told: list[tuple[float, str, list[str]]] = []  # of many: share, line, details
        self._errors: list[str] = []
        self._results: list[dict[str, Any]] = []

    def one(self, asked: Asked) -> int:
        """The answer about one; the number of hits."""
        answer = self._asking.answer(asked)
        self._note(answer)
        self._write_page()
        if self._as_json:
            print_json(self._results[0])
            return len(answer.result.hits)
        for line in self._details(answer):
            say(line)
        if answer.own is not None and asked.text is not None:
            say(f"The document {answer.own!r} is left out. It is this file.")
        self._say_summary()
        return len(answer.result.hits)

    def documents(self, asked: list[Asked]) -> int:
        """The answers about documents of the store; the number of hits. Raises as `files`."""
        return self._all(asked, len(asked), [], [])

    def files(self, files: Files) -> int:
        """The answers about many files; the number of hits.

        Raises:
            ClickException: some could not be answered; all else is done.
            SystemExit: a path could not be looked into; the same.
        """
        return self._exit_code(files, self._all(files, files.total, files.skipped, files.problems))

    def each_other(self, files: Files) -> int:
        """The answers about files that are compared with each other; the number of hits. Raises as `files`."""
        from simdoc_search.documents import Document

        search = self._asking.search
        search.index(Document(each.name, each.text or "") for each in files)
        asked = asked_documents(sorted(each.id for each in search.store.scan()))
        return self._exit_code(files, self._all(asked, len(asked), files.skipped, files.problems))

    @staticmethod
    def _exit_code(files: Files, found: int) -> int:
        if files.problems:
            raise SystemExit(1)
        return found

    def _all(self, sources: Iterable[Asked], total: int | None, skipped: list[Skipped], problems: list[str]) -> int:
        asked = failed = 0
        try:
            with document_progress(hidden=self._as_json, of_total=total is not None) as update:
                update(total=total)
                for each in sources:
                    asked += 1
                    failed += self._ask(each, skipped)
                    update(advance=1)
        except KeyboardInterrupt:
            if not self._as_json:
                self._finish(skipped, problems)
            raise Interrupted(f"interrupted after {counted(asked, 'text')}") from None
        self._finish(skipped, problems)
        if failed:
            raise click.ClickException(f"{counted(failed, 'query', 'queries')} of {asked:,} failed")
        return self._summary.hits

    def _ask(self, asked: Asked, skipped: list[Skipped]) -> bool:
        """Note the answer, or what is wrong; whether it failed."""
        try:
            answer = self._asking.answer(asked)
            self._note(answer)
            if not self._as_json:
                details = self._details(answer) if answer.result.hits else []
                self._told.append((-answer.result.covered.share, sum_of(answer), details))
        except StoreError:
            raise
        except SimdocError as error:
            if isinstance(error, NoFingerprintError) and asked.text is not None:
                skipped.append(Skipped(asked.name, "no words"))
                return False
            self._note_error(asked, error)
            return True
        return False

    def _note(self, answer: Answer) -> None:
        self._summary.add(answer.result)
        if self._html:
            self._answers.append(answer)
        if self._as_json:
            self._results.append(answer_as_json(answer, self._shown))

    def _details(self, answer: Answer) -> list[str]:
        texts = self._asking.texts([hit.place for hit in answer.result.hits])
        return list(lines_of(answer, texts, self._shown))

    def _note_error(self, asked: Asked, error: SimdocError) -> None:
        """Beside the other answers."""
        if self._as_json:
            self._results.append({"query": {**asked_as_json(asked), "name": asked.name}, "error": str(error)})
        else:
            self._errors += [asked.name, f"Error: {error}"]

    def _finish(self, skipped: list[Skipped], problems: list[str]) -> None:
        self._write_page()
        if self._as_json:
            left = [{"path": each.path, "reason": each.reason} for each in skipped]
            print_json({"results": self._results, "skipped": left, "problems": problems})
        else:
            self._say()
            print_skipped(skipped, advice=False)
        for problem in problems:
            say(f"Error: {problem}", err=True)

    def _say(self) -> None:
        """One line for each text, the largest share first, then the matches of each."""
        self._told.sort(key=lambda told: told[0])
        for line in [SUM_HEAD, *(line for _, line, _ in self._told)] if self._told else []:
            say(line)
        for block in [*(details for _, _, details in self._told if details), self._errors]:
            for line in ["", *block] if block else []:
                say(line)
        say()
        self._say_summary()

    def _say_summary(self) -> None:
        for line in self._summary.lines():
            say(line)
        if self._html:
            say(f"page: {self._html}")

    def _write_page(self) -> None:
        if self._html:
            write_page(self._html, self._answers, list(self._summary.lines()), self._asking, hidden=self._as_json)
