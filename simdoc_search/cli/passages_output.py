"""Output of `simdoc-search passages`, for people and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simdoc_search.cli.columns import ColumnLayout, format_hit_id, sort_hits
from simdoc_search.cli.common import print_json, say
from simdoc_search.cli.index_output import print_skipped_files
from simdoc_search.cli.input_text import QueryText
from simdoc_search.cli.passages_page import describe_hit, write_page
from simdoc_search.display import format_count, format_more_hits_hint, format_percent, printable
from simdoc_search.errors import SimdocError

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.cli.columns import HitColumns
    from simdoc_search.documents import SkippedFile
    from simdoc_search.passages import Passage
    from simdoc_search.search.passage_result import PassageResult
    from simdoc_search.search.similarity_search import SimilaritySearch

_HEADING = f"{'words in common':>15}{'share':>10}{'new':>8}{'passages':>10}  "
_OVERVIEW_HEADING = f"{'share':>8}{'words':>10}{'matches':>10}  text"
_INDENT = " " * 6


class PassageAnswer(NamedTuple):
    """The answer for one query document."""

    query: QueryText
    result: PassageResult
    id: str | None  # of the query document in the store; None if it is not stored

    @property
    def name(self) -> str:
        """The id of the query document in the store, or the name that the user gave."""
        return self.result.query_name or self.query.name

    @property
    def headline(self) -> str:
        """The first line of the answer."""
        return self.result.headline(self.name) + (
            " Compare all documents with --compare-all." if self.result.is_partial else ""
        )


class PassageOutput:
    """Collects the answers of one command, and prints them. `page_notes` say on the page what was searched."""

    def __init__(
        self,
        search: SimilaritySearch,
        columns: HitColumns,
        html: Path | None,
        as_json: bool,
        page_notes: Sequence[str],
    ) -> None:
        self._search, self._columns, self._html, self._page_notes = search, columns, html, page_notes
        self.as_json: bool = as_json
        self.hit_count: int = 0  # in all answers
        self._summary = _Summary(search)
        self._page_answers: list[PassageAnswer] = []
        self._overview: list[tuple[float, str, list[str]]] = []  # (negative share, overview line, detail lines)
        self._errors: list[str] = []
        self._json_results: list[dict[str, Any]] = []

    def print_one(self, answer: PassageAnswer) -> None:
        """Print the only answer."""
        self._collect(answer)
        self._write_page()
        if self.as_json:
            print_json(self._json_results[0])
            return
        for line in self._lines(answer):
            say(line)
        if answer.id is not None and answer.query.text is not None:
            say(f"The document {answer.id!r} is not listed, because it was indexed from the query file.")
        copy = answer.result.near_copy
        if copy and self._search.store.is_simdoc_index:
            option = shlex.join(["--exclude", f"path={copy.id}"])
            share = format_percent(copy.share, 0)
            say(f"{copy.id!r} has {share} of the text. To see the other sources of the text, add {option}.")
        if not self._html and any(len(hit.passages) > 1 for hit in answer.result.hits):
            say("Each document is shown with its longest passage. To see all passages, add --html FILE.")
        self._print_summary()

    def add(self, answer: PassageAnswer) -> None:
        """Add one of many answers."""
        self._collect(answer)
        if not self.as_json:
            covered, total = answer.result.coverage, f"{answer.result.total:,}{'+' * answer.result.is_partial}"
            line = (
                f"{format_percent(covered.share, 0):>8}{covered.word_count:>10,}{total:>10}  {printable(answer.name)}"
            )
            has_details = bool(answer.result.hits or answer.result.notes)
            self._overview.append((-covered.share, line, list(self._lines(answer)) if has_details else []))

    def add_error(self, query: QueryText, error: SimdocError) -> None:
        """Add the error of a query document."""
        if self.as_json:
            self._json_results.append({"query": {**query.as_json(), "name": query.name}, "error": str(error)})
        else:
            self._errors += [query.name, f"Error: {error}"]

    def print_many(self, skipped: list[SkippedFile], problems: Sequence[str]) -> None:
        """Print an overview with the largest share first, then the matches of each text, then the errors.

        Skipped files are sorted by path, because their original order depends on how many files were read ahead.
        """
        skipped = sorted(skipped, key=lambda file: file.path)
        self._write_page()
        if self.as_json:
            skipped_as_json = [{"path": file.path, "reason": file.reason} for file in skipped]
            print_json({"results": self._json_results, "skipped": skipped_as_json, "problems": list(problems)})
        else:
            self._overview.sort(key=lambda text: text[0])
            for line in [_OVERVIEW_HEADING, *(line for _, line, _ in self._overview)] if self._overview else []:
                say(line)
            for block in [*(details for _, _, details in self._overview), self._errors]:
                for line in ["", *block] if block else []:
                    say(line)
            say()
            self._print_summary()
            print_skipped_files(skipped, advice=False)
        for problem in problems:
            say(f"Error: {problem}", err=True)

    def _collect(self, answer: PassageAnswer) -> None:
        self.hit_count += len(answer.result)
        self._summary.add(answer.result)
        if self._html:
            self._page_answers.append(answer)
        if self.as_json:
            from simdoc_search.as_json.passages import passages_as_json

            value = passages_as_json(answer.query.as_json(answer.id), answer.result)
            self._json_results.append(self._columns.add_to_json(value, answer.result.hits))

    def _lines(self, answer: PassageAnswer) -> Iterator[str]:
        """Yield the headline, the hits, and their number."""
        from simdoc_search.search.stored_texts import read_texts

        result, columns = answer.result, self._columns
        texts = read_texts(self._search.store, [hit.key for hit in result.hits])
        values = columns.read(hit.key for hit in result.hits)
        layout = ColumnLayout(columns.names, values.values())
        ids = [hit.id for hit in result.hits]
        yield answer.headline
        yield from result.notes
        if result.hits:
            yield f"{_HEADING}{layout.heading}document"
        for hit in sort_hits(result.hits, columns, values):
            passages = f"{len(hit.passages):,}" if hit.kind == "exact" else ""
            id = format_hit_id(hit.key, ids, answer.name)
            name = f"{layout.format_row(values.get(hit.key))}{printable(id)}"
            yield f"{hit.words_label:>15}{hit.share_label:>10}{hit.added_word_count:>8,}{passages:>10}  {name}"
            if hit.longest and result.text is not None:
                yield from _excerpt_lines(hit.longest, result, texts.get(hit.key), self._search.store.settings.analysis)
            if note := describe_hit(hit):
                yield f"{_INDENT}{note}"
        if result.total:
            yield f"{result.page_description}." + format_more_hits_hint(len(result.hits), result.total, result.offset)

    def _print_summary(self) -> None:
        for line in self._summary.lines():
            say(line)
        if hint := self._summary.min_words_hint:
            say(hint)
        if self._html:
            say(f"page: {self._html}")

    def _write_page(self) -> None:
        if self._html:
            notes = [*self._summary.lines(), *self._page_notes]
            write_page(self._html, self._page_answers, notes, self._search.store, hide_progress=self.as_json)


def _excerpt_lines(passage: Passage, result: PassageResult, other: str | None, analysis: Analysis) -> Iterator[str]:
    """Yield two lines: the position of a passage in both texts, and its first and last matched words."""
    from simdoc_search.passages.positions import TextPositions, label_span_pair
    from simdoc_search.passages.summary import count_passage_words, quote_matched_words

    text = result.text or ""
    positions = TextPositions(text)
    label = positions.label_span(passage.a)
    if other is not None:
        label = label_span_pair(positions, passage.a, TextPositions(other), passage.b)
    counts = count_passage_words(
        passage, text, analysis, quotations=result.quotations, ignored_spans=result.ignored_spans
    )
    yield f"{_INDENT}{counts}, {label}"
    yield f"{_INDENT}“{printable(quote_matched_words(passage, text))}”"


class _Summary:
    """Creates the last lines of the output: how many texts share passages, and which runs are always found."""

    def __init__(self, search: SimilaritySearch) -> None:
        store = search.store
        self._settings, self._finds_phrases = store.settings, store.can_find_phrases
        by_characters = store.settings.analysis.unit == "character" and not store.can_find_phrases
        self._unit = "character" if by_characters else "word"
        self._text_count = self._sharing_text_count = self._match_count = self._too_common_run_count = 0
        self._longest_run = 0
        self._is_partial = False
        self._short_lengths: list[int] = []

    def add(self, result: PassageResult) -> None:
        """Add one result."""
        self._text_count += 1
        self._sharing_text_count += bool(result.total)
        self._match_count += result.total
        self._is_partial |= result.is_partial
        self._longest_run = max(self._longest_run, result.guaranteed_run_length)
        self._too_common_run_count += result.too_common_run_count
        words = result.word_count + result.ignored_word_count
        if result.text is not None and words < result.guaranteed_run_length:
            self._short_lengths.append(words)

    @property
    def min_words_hint(self) -> str:
        """How to find shorter runs than by default, if there is a long text; otherwise empty."""
        from simdoc_search.passages.align import LONG_TEXT_MIN_RUN, SHORT_TEXT_MIN_RUN

        if not self._finds_phrases or self._longest_run != LONG_TEXT_MIN_RUN:
            return ""
        return f"To find every run of {SHORT_TEXT_MIN_RUN} words, add --min-words {SHORT_TEXT_MIN_RUN}."

    def lines(self) -> Iterator[str]:
        """Yield one to three sentences."""
        if self._text_count != 1:
            least = "at least " if self._is_partial else ""
            count = self._match_count
            matches = f", with {least}{format_count(count, 'match', 'matches')}" if count else ""
            verb = "shares" if self._sharing_text_count == 1 else "share"
            yield f"{self._sharing_text_count:,} of {format_count(self._text_count, 'text')} {verb} passages{matches}."
        if self._text_count > len(self._short_lengths):
            guarantee = f"Every shared run of {format_count(self._longest_run, self._unit)} is found"
            if self._too_common_run_count:
                runs = format_count(self._too_common_run_count, "run")
                yield f"{guarantee}, except {runs} whose words are in too many documents."
            else:
                yield f"{guarantee}." if self._finds_phrases else f"{guarantee}. Shorter runs may be found too."
        if self._short_lengths:
            yield self._describe_short_texts()

    def _describe_short_texts(self) -> str:
        """Return a sentence about texts that are shorter than the runs that are always found."""
        passages, size, words = self._settings.passages, self._settings.analysis.shingle_size, min(self._short_lengths)
        if self._text_count == 1:
            length = f"The text has only {format_count(words, self._unit)}"
        else:
            texts_are = format_count(len(self._short_lengths), "text is", "texts are")
            limit = format_count(self._longest_run, self._unit)
            length = f"{texts_are} shorter than {limit}. The shortest has {format_count(words, self._unit)}"
        if not passages or words < size:
            return f"{length}. A text this short only matches documents that contain no other words."
        chance = format_percent(passages.probability_of_finding(words, size))
        return f"{length}. A document that contains all of it is found with a probability of {chance}."
