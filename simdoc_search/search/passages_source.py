"""The document or text that is asked about, with what it asks with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simdoc_search.analysis.words import PlacedWords
from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError, NoTextError
from simdoc_search.passages.exact import Measures
from simdoc_search.passages.ignored_words import ignored_words, left_text, quotations
from simdoc_search.passages.word_spans import Mask, no_words
from simdoc_search.search.stored_texts import ReadText
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint, shingle_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Codes, no_passages
from simdoc_search.stores.record import Record

ASKED_WITH_ALL = 1_000
"""Shingles of the longest text that asks with all of them, and not only with its passage tokens."""


@dataclass(frozen=True, slots=True)
class PassageSource:
    """The document or text that is asked about.

    Attributes:
        name: what a person calls it: an id, a path, or nothing of a text without one.
        place: where it is stored; None: it is not.
        codes: the tokens to ask with, as numbers: its passage tokens, or all its shingles as such.
        passages: its passage tokens.
        tokens: those of its fingerprint, as numbers.
        shingles: how many distinct shingles it has.
        text: the text, if it is known.
        ignored: which words of the text are ignored; empty without a text.
    """

    name: str
    place: Place | None
    codes: Codes
    passages: Codes
    tokens: Codes
    shingles: int
    text: ReadText | None
    ignored: Mask

    def ignoring(self, templates: Sequence[PlacedWords], settings: Settings, *, quotes: bool) -> PassageSource:
        """The same source without the words of some templates, and without its quotations; it may have no words left.

        Raises:
            NoTextError: its text is not stored.
        """
        if self.text is None:
            raise NoTextError(self.name)
        text, words = self.text.text, self.text.words
        ignored = ignored_words(words, templates, quotations(text) if quotes else ())
        if ignored.all():
            none = no_passages()
            return replace(self, codes=none, passages=none, tokens=none, shingles=0, ignored=ignored)
        kept = source_of_text(left_text(text, words, ignored), settings, self.name)
        return replace(kept, name=self.name, place=self.place, text=self.text, ignored=ignored)


def source_of_text(text: str, settings: Settings, name: str = "") -> PassageSource:
    """A text that need not be stored.

    Raises:
        NoFingerprintError: it has no words.
    """
    made = fingerprint(text, settings.analysis, settings.minhash, passages=settings.passages)
    if not made.shingles:
        raise NoFingerprintError(f"{name or 'the text'} has no words, so nothing can share a passage with it")
    asked = codes_to_ask(text, made, settings)
    tokens, read = settings.codes_and_terms(made)[0], ReadText.of(text, settings.analysis)
    ignored = no_words(len(read.words.words))
    return PassageSource(name, None, asked, made.passages, tokens, made.shingles, read, ignored)


def codes_to_ask(text: str, made: Fingerprint, settings: Settings) -> Codes:
    """The tokens to ask with for a text: all its shingles if it is short, else its passage tokens."""
    if made.shingles <= ASKED_WITH_ALL:
        return shingle_codes(text, settings.analysis, settings.minhash)
    return made.passages


def source_of_record(record: Record, settings: Settings) -> PassageSource:
    """A stored document, read with its text and its passage tokens.

    Raises:
        NoFingerprintError: it has none.
    """
    if record.text is not None:
        made = source_of_text(record.text, settings, f"the document {record.id!r}")
        return replace(made, name=record.id, place=record.place)
    if not len(record.passages):
        how = "without its text and what finds its passages; index it again"
        raise NoFingerprintError(f"the document {record.id!r} was stored {how}")
    codes = record.passages, record.passages, record.codes
    return PassageSource(record.id, record.place, *codes, record.shingles, None, no_words())


def estimated_measures(source: PassageSource, record: Record) -> Measures:
    """What the passage tokens of two documents say; those that both keep are taken for a sample of the shingles."""
    both = count_common(source.passages, record.passages)
    mine, theirs = len(source.passages), len(record.passages)
    jaccard, containment, contained = (both / whole if whole else 0.0 for whole in (mine + theirs - both, mine, theirs))
    return Measures(jaccard, containment, contained, (jaccard, containment, contained))
