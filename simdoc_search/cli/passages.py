"""`simdoc-search passages`: who shares passages with this document, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.asking import Given, filter_options, filters_of, page_options
from simdoc_search.cli.columns import Shown, show_option, sort_option
from simdoc_search.cli.common import (
    Interrupted,
    counted,
    document_progress,
    errors_as_sentences,
    json_option,
    print_json,
    say,
    store_option,
    text_field_option,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.index_report import print_skipped
from simdoc_search.cli.passage_answers import Answer, Asking
from simdoc_search.cli.passage_output import Summary, answer_as_json, asked_as_json, lines_of
from simdoc_search.cli.passage_page import write_page
from simdoc_search.cli.passage_sources import Asked, Files, asked_documents, asked_file, asked_text
from simdoc_search.cli.reading import read_lines
from simdoc_search.documents import Skipped
from simdoc_search.errors import NoFingerprintError, SimdocError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdoc_search.stores.location import EngineKind

__all__ = ["passages"]

_PATH = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@click.option(
    "--file",
    "files",
    type=_PATH,
    multiple=True,
    help="Ask with the text of a file that need not be indexed, or of each line or row of a table; - reads stdin. "
    "May be repeated.",
)
@click.option(
    "--folder",
    "folders",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    help="Ask with each file below a folder. May be repeated.",
)
@click.option("--text", help="Ask with this text; - reads it from stdin.")
@click.option(
    "--all-from",
    type=_PATH,
    metavar="FILE",
    help="Ask with every ID or path of a file, one a line or between NULs (find -print0); - reads stdin.",
)
@page_options
@click.option(
    "--min-words", type=click.IntRange(min=1), help="Equal words of the shortest passage.  [default: as the preset]"
)
@click.option(
    "--preset",
    type=click.Choice(["edited", "verbatim"]),
    default="edited",
    show_default=True,
    help="What a shared passage is: one with small changes in it too (of 15 words), or only what is the same word for "
    "word (of 20).",
)
@filter_options
@click.option("--other-folders", is_flag=True, help="No documents of the folder in which the one asked about lies.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page: a list, with both texts behind it."
)
@click.option("--fail-if-empty", is_flag=True, help="Exit code 1 if there is no hit, of many in no answer.")
@show_option
@sort_option("the most words first")
@text_field_option
@store_option
@json_option
@errors_as_sentences
def passages(
    id: str | None,
    files: tuple[Path, ...],
    folders: tuple[Path, ...],
    text: str | None,
    all_from: Path | None,
    size: int,
    offset: int,
    min_words: int | None,
    preset: Any,
    filters: Given,
    excluded: Given,
    other_folders: bool,
    html: Path | None,
    fail_if_empty: bool,
    show: tuple[str, ...],
    sort: str | None,
    text_fields: tuple[str, ...],
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find who shares passages with a document, a file or a text, and show where.

    Every run of 36 words that two texts share is found, however long they are (or as the index was made:
    --passage-run); shorter ones with a probability that is said. A file that is in the store itself does not find
    itself.

    Words in common are those of yours in shared passages, with small changes inside them; yours and theirs are shares
    of runs of five words, of which a changed word breaks five.

    \b
      simdoc-search passages doc123                          which documents, how much of it, the longest passage
      simdoc-search passages --file essay.pdf --html shared.html
      simdoc-search passages --folder ./essays --store ./sources.simdoc --json
      simdoc-search passages --text "..." --min-words 8
      simdoc-search passages reports/2024.txt --other-folders --exclude path=drafts/
    """
    from simdoc_search.corpus import holds_several
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if sum(map(bool, (id is not None, files, folders, text is not None, all_from))) != 1:
        raise click.UsageError("give one of ID, --file, --folder, --text or --all-from")
    if other_folders and text is not None:
        raise click.UsageError("a text lies in no folder; leave out --other-folders")
    search = SimilaritySearch(open_store(store, engine=engine, text_field=text_fields))
    asking = Asking(
        search,
        filters=filters_of(filters, excluded),
        other_folders=other_folders,
        size=size,
        offset=offset,
        min_words=min_words,
        preset=preset,
    )
    run = _Run(asking, Shown(search.store, show, sort), html, as_json)
    if all_from is not None:
        found = run.documents(asked_documents(read_lines(all_from)))
    elif folders or len(files) > 1 or any(map(holds_several, files)):
        found = run.files(Files(folders or files, listed=bool(folders)))
    elif files:
        found = run.one(asked_file(files[0]))
    else:
        found = run.one(Asked(id) if id is not None else asked_text(text or ""))
    if fail_if_empty and not found:
        raise SystemExit(1)


class _Run:
    """One call of the command: what it asks, and how it answers."""

    def __init__(self, asking: Asking, shown: Shown, html: Path | None, as_json: bool) -> None:
        self._asking, self._shown, self._html, self._as_json = asking, shown, html, as_json
        self._summary = Summary(asking.search.store.settings)
        self._answers: list[Answer] = []  # those that the page shows
        self._lines: list[str] = []
        self._results: list[dict[str, Any]] = []

    def one(self, asked: Asked) -> int:
        """The answer about one; the number of hits."""
        answer = self._asking.answer(asked)
        self._note(answer, heading=False)
        if answer.own is not None and asked.text is not None:
            self._lines.append(f"without the document {answer.own!r}, which is this file")
        self._write_page()
        if self._as_json:
            print_json(self._results[0])
        else:
            self._say()
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
        found = self._all(files, files.total, files.skipped, files.problems)
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
            self._note(self._asking.answer(asked), heading=True)
        except StoreError:
            raise
        except SimdocError as error:
            if isinstance(error, NoFingerprintError) and asked.text is not None:
                skipped.append(Skipped(asked.name, "no words"))
                return False
            self._note_error(asked, error)
            return True
        return False

    def _note(self, answer: Answer, *, heading: bool) -> None:
        result = answer.result
        self._summary.add(result)
        if self._html:
            self._answers.append(answer)
        if self._as_json:
            self._results.append(answer_as_json(answer, self._shown))
        elif result.hits:
            texts = self._asking.texts([hit.place for hit in result.hits])
            self._lines += [answer.asked.name] if heading else []
            self._lines += [*lines_of(answer, texts, self._shown), *([""] if heading else [])]

    def _note_error(self, asked: Asked, error: SimdocError) -> None:
        """Beside the other answers."""
        if self._as_json:
            self._results.append({"query": {**asked_as_json(asked), "name": asked.name}, "error": str(error)})
        else:
            self._lines += [asked.name, f"Error: {error}", ""]

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
        for line in [*self._lines, *self._summary.lines()]:
            say(line)
        if self._html:
            say(f"page: {self._html}")

    def _write_page(self) -> None:
        if self._html:
            write_page(self._html, self._answers, list(self._summary.lines()), self._asking, hidden=self._as_json)
