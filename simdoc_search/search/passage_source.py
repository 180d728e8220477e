"""The document or text that is asked about, with what it asks with."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError
from simdoc_search.passages.exact import Measures
from simdoc_search.search.texts import ReadText
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.fingerprint import fingerprint, shingle_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Codes
from simdoc_search.stores.record import Record

__all__ = ["PassageSource", "estimated_measures", "source_of_record", "source_of_text"]

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
        shingles: how many distinct shingles it has.
        text: the text, if it is known.
    """

    name: str
    place: Place | None
    codes: Codes
    passages: Codes
    shingles: int
    text: ReadText | None


def source_of_text(text: str, settings: Settings, name: str = "") -> PassageSource:
    """A text that need not be stored.

    Raises:
        NoFingerprintError: it has no words.
    """
    made = fingerprint(text, settings.analysis, settings.minhash, passages=settings.passages)
    if not made.shingles:
        raise NoFingerprintError(f"{name or 'the text'} has no words, so nothing can share a passage with it")
    asked = made.passages
    if made.shingles <= ASKED_WITH_ALL:
        asked = shingle_codes(text, settings.analysis, settings.minhash)
    return PassageSource(name, None, asked, made.passages, made.shingles, ReadText.of(text, settings.analysis))


def source_of_record(record: Record, settings: Settings) -> PassageSource:
    """A stored document, read with its text and its passage tokens.

    Raises:
        NoFingerprintError: it has none.
    """
    if record.text is not None:
        made = source_of_text(record.text, settings, f"the document {record.id!r}")
        return PassageSource(record.id, record.place, made.codes, made.passages, made.shingles, made.text)
    if not len(record.passages):
        how = "without its text and what finds its passages; index it again"
        raise NoFingerprintError(f"the document {record.id!r} was stored {how}")
    return PassageSource(record.id, record.place, record.passages, record.passages, record.shingles, None)


def estimated_measures(source: PassageSource, record: Record) -> Measures:
    """What the passage tokens of two documents say; those that both keep are taken for a sample of the shingles."""
    both = count_common(source.passages, record.passages)
    mine, theirs = len(source.passages), len(record.passages)
    jaccard, containment, contained = (both / whole if whole else 0.0 for whole in (mine + theirs - both, mine, theirs))
    return Measures(jaccard, containment, contained, (jaccard, containment, contained))
