"""Error, recall, precision and cost of settings, measured on a sample."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place
from simdoc_search.query.planner import Planner, plan
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.tuning.truth import Truth

_PAIRS_OF_BIN, _BINS = 150, 10
_QUESTIONS, _STRANGERS = 120, 0.25

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of one setting on a sample.

    Attributes:
        settings: the settings.
        error: root mean square error of the estimated overlap, of as many pairs from each tenth of the overlaps.
        compared: number of these pairs.
        recall: share of the documents with the wanted overlap that are found, 0..1.
        wanted: number of these documents, over all queries.
        precision: share of the hits that have the wanted overlap, 0..1; 1 if there are no hits.
        found: number of hits.
        asked: number of queries.
        bytes: of a document's tokens on average, as characters, before a store compresses them.
        speed: documents per second, from text to tokens, in one process.
        query_ms: a question on average, in a store in memory that holds the sample.
    """

    settings: Settings
    error: float
    compared: int
    recall: float
    wanted: int
    precision: float
    found: int
    asked: int
    bytes: float
    speed: float
    query_ms: float

    @property
    def name(self) -> str:
        """The sketch as a person names it: minhash:512."""
        return f"{sketch_name(self.settings)}:{sketch_size(self.settings)}"


def sketch_name(settings: Settings) -> str:
    """What the sketch of some settings is called."""
    return settings.minhash.name


def sketch_size(settings: Settings) -> int:
    """Its size: buckets, functions, hashes, or of how many shingles one is kept."""
    return int(settings.minhash.values[0])


def measured(
    texts: Mapping[str, str],
    truth: Truth,
    settings: Settings,
    *,
    overlap: Fraction,
    probability: Fraction,
    planner: Planner = "enough",
    seed: int = 1,
) -> Measurement:
    """Make the fingerprints of a sample, index them in memory, and query some of the documents.

    Args:
        texts: the sample, by id.
        truth: its exact overlaps, by the analysis of the settings.
        settings: what to measure.
        overlap: the Jaccard similarity that is asked for, over 0, up to 1.
        probability: with which a document of just that overlap is to be found, over 0, up to 1.
        planner: as in `plan`.
        seed: of which pairs and questions are chosen.

    Raises:
        MissingExtraError: the local store, or what makes this sketch, is not installed.
    """
    next(fingerprints(["warm up"], settings.analysis, settings.minhash))
    began = time.perf_counter()
    made = list(fingerprints(texts.values(), settings.analysis, settings.minhash))
    spent = max(time.perf_counter() - began, 1e-9)
    codes = {id: each.codes(settings.token_length) for id, each in zip(texts, made, strict=True)}
    records = (Record(id, codes[id], each.shingles, "") for id, each in zip(texts, made, strict=True))
    error, compared = _error(codes, truth, settings, seed)
    with open_store(":memory:", settings, create=True, store_texts=False) as store:
        with store.writer() as writer:
            writer.put(records)
            writer.commit()
        answers = _QueryTotals(store, codes, overlap, probability, planner)
        partners = truth.partners(float(overlap))
        for id in _questions(truth.ids, partners, seed):
            answers.ask(id, partners.get(id, set()))
    length = settings.token_length
    return Measurement(
        settings, error, compared,
        answers.right / answers.wanted if answers.wanted else 1.0, answers.wanted,
        answers.right / answers.found if answers.found else 1.0, answers.found, answers.asked,
        length * sum(map(len, codes.values())) / max(1, len(codes)),
        len(codes) / spent, 1000 * answers.seconds / max(1, answers.asked),
    )  # fmt: skip


class _QueryTotals:
    """Totals over all queries so far."""

    def __init__(
        self, store: Store, codes: Mapping[str, Codes], overlap: Fraction, probability: Fraction, planner: Planner
    ) -> None:
        self.right = self.wanted = self.found = self.asked = 0
        self.seconds = 0.0
        self._store, self._codes, self._planner = store, codes, planner
        self._overlap, self._probability = overlap, probability

    def ask(self, id: str, partners: set[str]) -> None:
        """Query a document. `partners` are the ids of those that really overlap it."""
        self.asked += 1
        self.wanted += len(partners)
        settings, its = self._store.settings, self._codes[id]
        if isinstance(self._planner, int) and len(its) < self._planner:  # such a question is refused
            return
        began = time.perf_counter()
        tokens = encode(its, settings.token_length)
        made = plan(tokens, self._overlap, self._probability, planner=self._planner)
        hits = set()
        for each in self._store.candidates(made, exclude=Place(id)) if made.can_match else ():
            if made.is_hit(*settings.estimate(its, each.codes), self._overlap):
                hits.add(each.id)
        self.seconds += time.perf_counter() - began
        self.found += len(hits)
        self.right += len(hits & partners)


def _questions(ids: Iterable[str], partners: Mapping[str, set[str]], seed: int) -> list[str]:
    """The documents to query: most of them have a partner, some have none."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    having = chance.sample(sorted(partners), min(len(partners), round(_QUESTIONS * (1 - _STRANGERS))))
    others = sorted(set(ids) - set(partners))
    return [*having, *chance.sample(others, min(len(others), _QUESTIONS - len(having)))]


def _error(codes: Mapping[str, Codes], truth: Truth, settings: Settings, seed: int) -> tuple[float, int]:
    """The error of the estimates, over as many pairs from each tenth: else the many that hardly overlap hide all."""
    chance = np.random.default_rng(seed)
    bins = np.minimum((truth.jaccard * _BINS).astype(np.int64), _BINS - 1)
    squares = []
    for number in range(_BINS):
        its = np.flatnonzero((bins == number) & (truth.jaccard < 1))  # equal sets are never wrong
        for place in chance.permutation(its)[:_PAIRS_OF_BIN].tolist():
            a, b = (codes[truth.ids[each[place]]] for each in (truth.first, truth.second))
            shared, union = settings.estimate(a, b)
            squares.append(((shared / union if union else 0.0) - truth.jaccard[place]) ** 2)
    return (float(np.sqrt(np.mean(squares))) if squares else 0.0), len(squares)
