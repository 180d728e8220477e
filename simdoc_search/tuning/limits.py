"""Which limits call documents versions, or related, as a person does? Learned from pairs that she judged.

Pairs are compared directly, as `versions` and `related` compare candidates. Whether a question would find the pair
among all documents is another matter, see `sketch.sentences.asked_codes` and `versions.idf`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from simdoc_search.errors import CorpusError, FormatMismatchError, StoreError
from simdoc_search.sketch.concepts import paragraphs_of
from simdoc_search.sketch.limits import MOST_BITS, Limits
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.tuning.pairs import LabelledPair, best_cut, rounded_cut
from simdoc_search.versions import matched
from simdoc_search.versions.idf import ConceptWeights
from simdoc_search.versions.matching import SharesAt, shares_by_bits
from simdoc_search.versions.relations import relation_score

_FOLDS = 20

Values = Sequence[tuple[float, bool]]
"""What is compared with a limit, and whether the pair is a yes."""


@dataclass(frozen=True, slots=True)
class Calls:
    """How limits call pairs that a person judged.

    Attributes:
        found: of how many a yes they say yes too.
        yes: how many a yes there is.
        taken: of how many a no they say yes.
        no: how many a no there is.
    """

    found: int
    yes: int
    taken: int
    no: int

    @property
    def precision(self) -> float | None:
        """Of those that they call yes, the share that is, 0..1; None: they call none so."""
        return self.found / (self.found + self.taken) if self.found + self.taken else None

    @property
    def recall(self) -> float:
        """The share of a yes that they find, 0..1."""
        return self.found / self.yes if self.yes else 0.0

    @property
    def cost(self) -> int:
        """The share of each kind that they get wrong, added up, times both numbers."""
        return (self.yes - self.found) * self.no + self.taken * self.yes

    def __add__(self, other: Calls) -> Calls:
        parts = ((getattr(self, name) + getattr(other, name)) for name in ("found", "yes", "taken", "no"))
        return Calls(*parts)


@dataclass(frozen=True, slots=True)
class LearnedLimits:
    """Limits that call the judged pairs best.

    Attributes:
        what: what the pairs are about.
        before: the limits that the index has.
        limits: the best ones; those that it has if none are better.
        calls_before: how the first call the pairs.
        calls: how the others do.
        unseen: how limits call pairs when all others taught them (20-fold cross-validation).
        wrong: the pairs that the best ones call otherwise than the person.
    """

    what: Literal["versions", "related"]
    before: Limits
    limits: Limits
    calls_before: Calls
    calls: Calls
    unseen: Calls
    wrong: tuple[LabelledPair, ...]

    @property
    def changed(self) -> bool:
        """Whether they are others than the index has."""
        return self.limits != self.before


def limits_of_versions(store: Store, judged: Sequence[LabelledPair]) -> LearnedLimits:
    """The bits and the share of sentences that tell versions best; `least` stays what it is.

    Args:
        store: where the documents are; without sentences it must have their texts.
        judged: pairs of ids, with at least one yes and one no.

    Raises:
        CorpusError: a document is not in the store.
        StoreError: the store has neither sentences nor texts.
    """
    sentences = {id: _sentences(store, record) for id, record in _records(store, judged).items()}
    before = store.settings.limits
    compared = [shares_by_bits(sentences[each.a], sentences[each.b], MOST_BITS) for each in judged]

    def of(limits: Limits) -> list[float]:
        return [_share(each[limits.bits], limits.least) for each in compared]

    candidates = [replace(before, bits=bits) for bits in range(MOST_BITS + 1)]
    return _learned("versions", judged, before, candidates, of, name="enough")


def limits_of_related(store: Store, judged: Sequence[LabelledPair]) -> LearnedLimits:
    """The score from which on documents are related; the other limits stay what they are.

    Args:
        store: where the documents are; it has concepts.
        judged: pairs of ids, with at least one yes and one no. The first of a pair is asked about.

    Raises:
        CorpusError: a document is not in the store.
        FormatMismatchError: the store has no concepts.
    """
    if store.settings.concepts is None:
        raise FormatMismatchError("related is learned from concepts; make the index --with relations")
    records, before = _records(store, judged), store.settings.limits
    scores = [_score(store, records[each.a], records[each.b]) for each in judged]
    return _learned("related", judged, before, [before], lambda _: scores, name="min_score")


def _learned(
    what: Literal["versions", "related"],
    judged: Sequence[LabelledPair],
    before: Limits,
    candidates: Sequence[Limits],
    values_of: Callable[[Limits], Sequence[float]],
    *,
    name: Literal["enough", "min_score"],
) -> LearnedLimits:
    """The best of some limits, each with the best value of one of them."""
    same = [each.same for each in judged]
    tables = {each: list(zip(values_of(each), same, strict=True)) for each in candidates}

    def best(places: Sequence[int]) -> Limits:
        """What some of the pairs teach; of limits as good those nearest to what the index has."""
        tried = [before] + [_with_cut(each, [table[at] for at in places], name) for each, table in tables.items()]
        return min(tried, key=lambda each: (calls(each, places).cost, abs(each.bits - before.bits)))

    def calls(limits: Limits, places: Sequence[int]) -> Calls:
        cut = getattr(limits, name)
        some = [tables[_key(limits, candidates)][at] for at in places]
        yes = [value >= cut for value, is_same in some if is_same]
        no = [value >= cut for value, is_same in some if not is_same]
        return Calls(sum(yes), len(yes), sum(no), len(no))

    everything = range(len(judged))
    limits = best(everything)
    folds = min(_FOLDS, len(judged))
    unseen = Calls(0, 0, 0, 0)
    for fold in range(folds):
        unseen += calls(best([at for at in everything if at % folds != fold]), everything[fold::folds])
    cut, values = getattr(limits, name), values_of(limits)
    wrong = tuple(each for each, value in zip(judged, values, strict=True) if (value >= cut) != each.same)
    return LearnedLimits(what, before, limits, calls(before, everything), calls(limits, everything), unseen, wrong)


def _key(limits: Limits, candidates: Sequence[Limits]) -> Limits:
    return next(each for each in candidates if each.bits == limits.bits)


def _with_cut(limits: Limits, values: Values, name: Literal["enough", "min_score"]) -> Limits:
    """The same limits with the value of one of them that calls most pairs right, as it is stored."""
    cut = rounded_cut(values, best_cut(values))
    if name == "min_score":
        return replace(limits, min_score=cut)
    return replace(limits, enough=max(cut, limits.least)) if cut > 0 else limits


def _share(both: SharesAt, least: float) -> float:
    """The share of sentences that is compared with `enough`; 0 where the other limits say no."""
    more, less = max(both.share, both.share_of_other), min(both.share, both.share_of_other)
    return 0.0 if both.too_few or less < least else more


def _score(store: Store, a: Record, b: Record) -> float:
    """The score that `related` gives the second for the first."""
    limits = store.settings.limits
    both = matched(sentences_of_codes(a.sentences), sentences_of_codes(b.sentences), limits.bits)
    version = limits.score_of(both)
    mine, its = paragraphs_of(a.concepts), paragraphs_of(b.concepts)
    if version is not None or not mine.count:
        return version or 0.0
    weights = ConceptWeights(mine, store.frequencies, is_stored=True)
    (similar,) = weights.similarities(weights.weighted([its]))
    return relation_score(similar)


def _records(store: Store, judged: Sequence[LabelledPair]) -> Mapping[str, Record]:
    """The records of all judged documents.

    Raises:
        CorpusError: one of them is not in the store.
    """
    found: dict[str, Record] = {}
    text = store.settings.sentences is None
    for each in judged:
        for id in (each.a, each.b):
            if id not in found:
                record = store.get(id, text=text, sketches=True)
                if record is None:
                    where = f"line {each.line} of the pairs" if each.line else "a pair"
                    raise CorpusError(f"{where} names {id!r:.80}, which is not in the index")
                found[id] = record
    return found


def _sentences(store: Store, record: Record) -> Simhashes:
    if store.settings.sentences is not None:
        return sentences_of_codes(record.sentences)
    if record.text is None:
        raise StoreError("the index has neither sentences nor texts; index again with --with versions")
    return sentences_in(record.text, store.settings.analysis)
