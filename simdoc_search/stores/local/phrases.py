"""Phrase search in a local store: the index of words selects documents, the stored texts decide."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from tantivy import DocAddress, Schema, Searcher

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.analysis.words import joined_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import all_words_query
from simdoc_search.stores.local.schema import WORDS, document_at, id_of, parts_of_words, text_of
from simdoc_search.stores.phrases import Phrase, PhraseMatches

WORDS_ASKED = 8
"""Number of words of a phrase that are looked up, the rarest."""

MOST_OF_PHRASE = 1_000
"""Maximum of documents read for one of many phrases."""

MOST_READ, FURTHER_READ, MOST_READ_EVER = 5_000, 20, 50_000
"""Maximum of documents read for all phrases together, beginning with those of the rarest phrases; how many more for
each phrase; and for any number of phrases. A few thousand take a tenth of a second.
"""

READ_AT_ONCE = 256

_MANY = 50
"""Number of phrases from which a text is compared with all of them at once."""

_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256).lower()

_Place = tuple[int, int]
"""A segment, and a document in it."""


class PhraseLookups:
    """Mixin of the local store that finds phrases."""

    location: str
    _schema: Schema
    _settings: Settings
    _sums: bool

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Searcher]: ...

    @property
    def finds_phrases(self) -> bool:
        """Whether `having_phrases` answers; see `Store`."""
        return self._settings.words

    def having_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: Place | None = None
    ) -> PhraseMatches:
        """Return the documents that contain some of these phrases; see `Store`."""
        if not self.finds_phrases:
            raise FormatMismatchError(
                f"the store {self.location} has no index of words; index again into a new store with texts"
            )
        with self._snapshot() as searcher:
            candidates = self._candidates(searcher, phrases, filters or {}, exclude)
            asked, incomplete = _affordable(candidates, len(phrases))
            matcher = _Matcher(phrases, self._settings.analysis)
            found = {}
            for at, (place, numbers) in enumerate(sorted(asked.items())):
                if at % READ_AT_ONCE == 0:
                    check_stopped()
                document = document_at(searcher, DocAddress(*place), self._sums)
                if has := matcher.phrases_in(text_of(document) or "", numbers):
                    found[Place(id_of(document))] = has
        return PhraseMatches(found, incomplete)

    def _candidates(
        self, searcher: Searcher, phrases: Sequence[Phrase], filters: Filters, exclude: Place | None
    ) -> dict[int, list[_Place]]:
        """Return for each phrase by number some documents with all of its words, at most one more than are read."""
        frequencies: dict[str, int] = {}
        found: dict[int, list[_Place]] = {}
        limit = _limit(len(phrases)) + 1
        for number, phrase in enumerate(phrases):
            if number % READ_AT_ONCE == 0:
                check_stopped()
            terms = parts_of_words(phrase.words)
            for each in terms:
                if each not in frequencies:
                    frequencies[each] = searcher.doc_freq(WORDS, each)
            rarest = sorted(terms, key=frequencies.__getitem__)[:WORDS_ASKED]
            if frequencies[rarest[0]]:
                query = all_words_query(self._schema, WORDS, rarest, filters, exclude)
                hits = searcher.search(query, limit=limit, count=False).hits
                found[number] = [(address.segment_ord, address.doc) for _, address in hits]
        return found


class _Matcher:
    """Matches phrases in texts."""

    def __init__(self, phrases: Sequence[Phrase], analysis: Analysis) -> None:
        self._analysis = analysis
        self._joined = [f" {' '.join(each.words)} " for each in phrases]
        self._words = [tuple(each[1:-1].split(" ")) for each in self._joined]  # a normalised word may have spaces
        self._plain = [_plain(each) or b"" for each in self._joined]

    def phrases_in(self, text: str, asked: Sequence[int]) -> tuple[int, ...]:
        """Return the ascending numbers of the phrases that a text contains."""
        if len(asked) > _MANY:
            return self._among_windows(text, asked)
        if (plain := _plain(text)) is not None:
            asked = [each for each in asked if self._plain[each] in plain]
        if not asked:
            return ()
        words = f" {joined_words(text, self._analysis)} "
        return tuple(number for number in sorted(asked) if self._joined[number] in words)

    def _among_windows(self, text: str, asked: Sequence[int]) -> tuple[int, ...]:
        """Do the same by all windows of the text that are as long as phrases, so that its words are read once."""
        words, found = joined_words(text, self._analysis).split(" "), set[tuple[str, ...]]()
        wanted = {self._words[each] for each in asked}
        for length in {len(each) for each in wanted}:
            found |= wanted.intersection(zip(*(words[at:] for at in range(length)), strict=False))
        return tuple(number for number in sorted(asked) if self._words[number] in found)


def _plain(text: str) -> bytes | None:
    """Return the letters and digits of a text, with one space for everything between them.

    They rule out most texts without a phrase, and are much faster to find than words. None if they are inconclusive:
    the text is not ASCII, or a word may be so long that it is cut.
    """
    if not text.isascii() or max(map(len, text.split()), default=0) >= MAX_WORD_UNITS:
        return None
    return b" %b " % b" ".join(text.encode("ascii").translate(_LETTERS_AND_DIGITS).split())


def _limit(phrases: int) -> int:
    """Return the maximum of documents read for one of this many phrases."""
    return max(MOST_OF_PHRASE, MOST_READ // max(1, phrases))


def _affordable(
    candidates: Mapping[int, Sequence[_Place]], phrases: int
) -> tuple[dict[_Place, list[int]], tuple[int, ...]]:
    """Return the documents to read, each with its phrases; and the phrases of which not all documents are read."""
    asked: defaultdict[_Place, list[int]] = defaultdict(list)
    incomplete = []
    limit, most = _limit(phrases), min(MOST_READ + FURTHER_READ * phrases, MOST_READ_EVER)
    for number in sorted(candidates, key=lambda each: len(candidates[each])):
        places = candidates[number]
        is_whole = len(places) <= limit
        for place in places[:limit]:
            if place in asked or len(asked) < most:
                asked[place].append(number)
            else:
                is_whole = False
        if not is_whole:
            incomplete.append(number)
    return asked, tuple(sorted(incomplete))
