"""Which documents may be versions of this one? Tokens of sentences find them, or passages and fingerprints do.

An index that was made `--with versions` has the sentences of its documents. Any other index has at least their
fingerprints: the candidates are then those that share passages or a fingerprint, and the texts give their sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError, SimdocError, StoreError
from simdoc_search.search.passages_source import codes_to_ask
from simdoc_search.search.similar import answers_to_records, record_of_text
from simdoc_search.search.similar_options import Options
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import pages, read_records
from simdoc_search.search.versions_result import Via
from simdoc_search.search.versions_source import VersionSource, with_dates
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint
from simdoc_search.sketch.sentences import Codes, codes_of_sentences, flips_for, query_codes, sentences_of_codes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.versions.query_sentences import rarer, sentences_to_ask

MOST_COMPARED = 500
"""Documents that are compared with one source at most, or ten times as many as are wanted: those that share most
tokens of the sentences that are asked for, as many of those that share most of the equal ones, and again as many of
those that share most of the sentences that few of the first have."""

MOST_READ = 200
"""The same where sentences come from the texts: those that share most passages, and as many by fingerprints."""

_COMPARED_PER_HIT = 10


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a source.

    Attributes:
        records: those that are compared, without those deleted meanwhile.
        sentences: the simhashes of the sentences of each.
        total: how many share a token at all, of those that are known.
        asked: with how many distinct sentences of the source was asked.
        via: what found them.
    """

    records: list[Record] = field(default_factory=list)
    sentences: list[Simhashes] = field(default_factory=list)
    total: int = 0
    asked: int = 0
    via: Via = "sentences"


def find_candidates(
    store: Store, source: VersionSource, exclude: Place | None, filters: Filters | None, wanted: int, *, bits: int
) -> Found:
    """The candidates of a source, by the best that the store has.

    Args:
        store: where they are.
        source: the document or text whose versions are looked for.
        exclude: one that is not a candidate.
        filters: which documents are looked at.
        wanted: how many versions are wanted.
        bits: in how many bits two sentences may differ and are alike.
    """
    if store.settings.sentences is not None:
        most = max(MOST_COMPARED, _COMPARED_PER_HIT * wanted)
        found = _by_sentences(store, source, exclude, filters, most, bits=bits)
    else:
        found = _by_texts(store, source, exclude, filters, max(MOST_READ, _COMPARED_PER_HIT * wanted))
    return replace(found, records=with_dates(store, found.records))


def _by_sentences(
    store: Store, source: VersionSource, exclude: Place | None, filters: Filters | None, most: int, *, bits: int
) -> Found:
    """Where not all can be compared, those that share most may hide versions that share little, but nothing else.

    With near tokens long documents share many by chance, so equal tokens are asked for too; and what stands everywhere,
    as a footer does, is shared by more than a short version is, so the sentences that are rarer are asked for by
    themselves.
    """
    read: dict[Place, Record] = {}
    asked = sentences_to_ask(source.sentences)
    flips = flips_for(len(asked), bits)

    def ask(codes: Codes) -> int:
        found = store.sharing(codes, among="sentences", filters=filters, exclude=exclude, size=most)
        places = [each.place for each in found.documents if each.place not in read]
        read.update(read_records(store, places, text=False, sketches=True))
        return found.total

    total = ask(query_codes(asked, min(1, flips)))
    if total > most:
        rare = rarer(asked, [sentences_of_codes(each.sentences) for each in read.values()], bits)
        ask(codes_of_sentences(rare))
        if len(rare) < len(asked):
            ask(query_codes(rare, min(1, flips)))
    if flips > 1:  # chance makes many documents share such tokens, so they are asked for besides the others
        total = ask(query_codes(asked, flips))
    records = list(read.values())
    return Found(records, [sentences_of_codes(each.sentences) for each in records], total, len(asked))


def _by_texts(store: Store, source: VersionSource, exclude: Place | None, filters: Filters | None, most: int) -> Found:
    """Raises StoreError: the store has no texts."""
    if not store.store_texts or source.text is None:
        raise StoreError(
            "the index keeps no texts, so their sentences cannot be compared; "
            "run simdoc-search index again with --with versions"
        )
    settings = store.settings
    made = fingerprint(source.text, settings.analysis, settings.minhash, passages=settings.passages)
    places: dict[Place, None] = {}
    total = 0
    if settings.passages is not None:
        codes = codes_to_ask(source.text, made, settings)
        shared = store.sharing(codes, filters=filters, exclude=exclude, size=most)
        places.update(dict.fromkeys(each.place for each in shared.documents))
        total = shared.total
    similar = _similar(store, source.text, made, exclude, Options(size=most, filters=filters))
    if isinstance(similar, SimdocError) and settings.passages is None:
        raise similar
    if isinstance(similar, SearchResult):
        places.update(dict.fromkeys(hit.place for hit in similar.hits))
        total = max(total, similar.candidates)
    records, sentences = _read(store, list(places))
    via: Via = "fingerprints" if settings.passages is None else "passages"
    return Found(records, sentences, max(total, len(places)), len(set(source.sentences.tolist())), via)


def _similar(
    store: Store, text: str, made: Fingerprint, exclude: Place | None, options: Options
) -> SearchResult | SimdocError:
    """The documents whose fingerprints overlap that of a text, or why none can be found."""
    source = record_of_text(text, made, store.settings)
    try:
        (answer,) = answers_to_records(store, [source], options, exclude)
    except NoFingerprintError as error:
        return error
    return answer


def _read(store: Store, places: Sequence[Place]) -> tuple[list[Record], list[Simhashes]]:
    """Records without their texts, and the sentences that these have now."""
    records, sentences = [], []
    for page in pages(iter(places)):
        for record in read_records(store, page).values():
            if record.text is not None:
                records.append(replace(record, text=None))
                sentences.append(sentences_in(record.text, store.settings.analysis))
    return records, sentences
