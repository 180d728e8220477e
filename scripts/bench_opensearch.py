"""Fingerprints in OpenSearch: what they cost to index and to keep, and what queries by them cost and find.

    python scripts/bench_opensearch.py URL [DOCUMENTS] [--corpus PATH] [--rounds N] [--threads N] [--codec NAME]
                                        [--words N...]

URL is that of an engine that runs, like http://127.0.0.1:9201; DOCUMENTS is 12000. PATH is a folder with `docs/` and
`truth.tsv`, measured as well (alone, if DOCUMENTS is 0). All indices are made here, have one shard and no replica, and
are deleted at the end. Everything is measured side by side in one run, and the ratios count.

Indexing: the client's `helpers` (one request at a time, or N threads) and a refresh, the same documents with the body
alone and with our field beside it, fingerprinting included, by turns. Bytes are those of one merged segment: how much
more our field takes, of it in `_source` and in the index of terms; and how much more an array of keywords takes.

Queries: 50 hits without `_source` from one merged segment, for the same sources by turns:
    match           our field, planner `enough`, as `similar_query` says it
    match, all      the same with planner `all`
    terms           a clause for each token, in an array of keywords
    more_like_this  25 terms of the body; it knows no overlap
`took` is the engine's own time, cut to whole milliseconds. `recall` is of the pairs whose exact overlap is what is
asked for or more, over all that matches (at most 10,000); `at it` of those up to 3 points above it, for which the plans
promise `promised`; `in 50` over the 50 hits shown, of at most 50 pairs of a source; `true` is the share of the hits
shown that are such pairs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench_opensearch_engine import BARE, KEYWORDS, OURS, Bench, Loaded, Meter, bench
from bench_opensearch_material import Material, real, synthetic, with_sources

from simdoc_search import SimilaritySearch, fingerprint, open_store
from simdoc_search.query import FingerprintQuery, plan, similar_query
from simdoc_search.query.dsl import count_clauses

SHORT, USUAL, LONG = 375, 700, 5_000  # words; 375 have 264 tokens, as many as real documents had on average
LONG_DOCUMENTS = 4_000
QUERIES = ((20, None), (80, None), (20, 80), (80, 80))
SIZE, EVERYTHING, TERMS_ALIKE = 50, 10_000, 25

Asked = tuple[int, int | None]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Fingerprints in OpenSearch: indexing, bytes, queries, recall.")
    parser.add_argument("url")
    parser.add_argument("documents", type=int, nargs="?", default=12_000)
    parser.add_argument("--corpus", type=Path, help="a folder with docs/ and truth.tsv")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="requests on their way at once while indexing")
    parser.add_argument("--codec", default="default", help="of the indices, like best_compression")
    parser.add_argument("--words", type=int, nargs="+", default=[SHORT, LONG, USUAL], help="of the documents")
    given = parser.parse_args()
    materials = []
    for words in given.words if given.documents else ():
        print("  making documents, and comparing them exactly", file=sys.stderr)
        made = synthetic(min(given.documents, LONG_DOCUMENTS) if words >= LONG else given.documents, words)
        materials.append(with_sources(made) if words == USUAL else made)
    if given.corpus:
        materials.append(real(given.corpus.parent if given.corpus.name == "docs" else given.corpus))
    with bench(given.url, given.codec, given.threads) as engine:
        for material in materials:
            print_indexing(engine, material, given.rounds)
            if material.sources:
                print_queries(engine, material, given.rounds)


def print_indexing(engine: Bench, material: Material, rounds: int) -> None:
    """Documents a second, and bytes of a document."""
    loads: dict[str, list[Loaded]] = {BARE: [], OURS: [], KEYWORDS: []}
    for turn in range(rounds):
        for kind in (BARE, OURS, KEYWORDS) if turn == 0 else (OURS, BARE)[:: 1 if turn % 2 else -1]:
            loads[kind].append(engine.load(kind, material))
    count = len(material.documents)
    speed = {kind: count / statistics.median(each.seconds for each in loads[kind]) for kind in loads}
    work = {kind: 1000 * statistics.median(each.took for each in loads[kind]) / count for kind in loads}
    ratio = statistics.median(bare.seconds / ours.seconds for bare, ours in zip(loads[BARE], loads[OURS], strict=True))
    bare, ours, keywords = (engine.merged_bytes(kind) for kind in (BARE, OURS, KEYWORDS))
    more = {part: ours[part] - bare[part] for part in ("all", "_source", "terms", "rest")}
    mean = {"size": 0, "aggs": {"tokens": {"avg": {"field": "simdoc.buckets"}}}}
    tokens = engine.client.search(index=engine.indices[OURS], body=mean)["aggregations"]["tokens"]["value"]
    words = statistics.mean(len(each.text.split()) for each in material.documents)
    own = 1000 * engine.fingerprinting(material) / count
    print(f"\n{material.name}: {count:,} documents of {words:,.0f} words and {tokens:.0f} tokens\n"
          f"{'':<10}{'bare':>9}{'ours':>9}{'ratio':>8}{'keywords':>10}\n"
          f"{'docs/s':<10}{speed[BARE]:>9,.0f}{speed[OURS]:>9,.0f}{ratio:>8.2f}{speed[KEYWORDS]:>10,.0f}\n"
          f"{'took ms':<10}{work[BARE]:>9.2f}{work[OURS]:>9.2f}{work[BARE] / work[OURS]:>8.2f}{work[KEYWORDS]:>10.2f}"
          f"   a document in the engine; fingerprinting alone takes {own:.2f}\n"
          f"{'bytes':<10}{bare['all']:>9,.0f}{more['all']:>+9,.0f}{more['all'] / bare['all']:>+8.1%}"
          f"{keywords['all'] - bare['all']:>+10,.0f}   ours: {more['_source']:,.0f} in _source,"
          f" {more['terms']:,.0f} terms, {more['rest']:,.0f} rest; {more['all'] / tokens:.2f} a token",
          flush=True)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A request: one form of a FINGERPRINT query for one source."""

    source: str
    asked: Asked
    form: str
    index: str
    query: dict[str, Any]
    clauses: int


@dataclass
class Row:
    """What all requests of one form needed and found."""

    clauses: int = 0
    wall: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    matches: list[int] = field(default_factory=list)
    outcomes: list[tuple[float, bool]] = field(default_factory=list)  # of each pair: exact overlap, whether found
    shown: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # of each source: hits, pairs of them, possible ones


@dataclass(frozen=True)
class Note:
    """One call of our client: milliseconds, requests, milliseconds in these, and the engine's own."""

    wall: float
    requests: int
    inside: float
    took: float


def print_queries(engine: Bench, material: Material, rounds: int) -> None:
    """The forms side by side, then what our client adds."""
    texts = {each.id: each.text for each in material.documents}
    tokens = {id: fingerprint(texts[id]).tokens() for id in material.sources}
    cases = [each for id in material.sources for asked in QUERIES for each in _cases(engine, id, tokens[id], asked)]
    rows: dict[tuple[Asked, str], Row] = defaultdict(Row)
    for case in cases:  # warms up, too
        _find(engine, case, material, rows[case.asked, case.form])
    search = SimilaritySearch(open_store(client=engine.client, index=engine.indices[OURS]))
    notes: dict[Asked, list[Note]] = defaultdict(list)
    for turn in range(rounds):
        print(f"  {material.name}: queries, turn {turn + 1} of {rounds}", file=sys.stderr)
        for case in cases if turn % 2 else reversed(cases):
            _ask(engine, case, rows[case.asked, case.form], SIZE)
            if case.form == "match":
                notes[case.asked].append(_similar(search, case))
    promised: dict[Asked, float] = {
        asked: statistics.mean(_promised(each, asked) for each in tokens.values()) for asked in QUERIES
    }
    print_forms(rows, promised, f"queries over {material.name}: {len(texts):,} documents, {len(tokens)} sources")
    print_client(rows, notes)


def _cases(engine: Bench, id: str, tokens: Sequence[str], asked: Asked) -> list[Case]:
    overlap, probability = _fractions(asked)
    ours: dict[str, Any] = {"field": "simdoc.tokens", "fingerprint_size_field": "simdoc.buckets"}
    keywords: dict[str, Any] = {"field": "hashes", "fingerprint_size_field": "buckets", "kind": "terms"}
    forms = {"match": (OURS, ours), "match, all": (OURS, ours | {"planner": "all"}), "terms": (KEYWORDS, keywords)}
    if not probability:
        del forms["match, all"]
    cases = []
    for form, (kind, options) in forms.items():
        query = similar_query(tokens, overlap, probability, exclude_id=id, **options)
        cases.append(Case(id, asked, form, engine.indices[kind], query, count_clauses(query)))
    index = engine.indices[BARE]
    like = {"fields": ["body"], "like": [{"_index": index, "_id": id}], "min_doc_freq": 1}
    query = {"more_like_this": like | {"max_query_terms": TERMS_ALIKE}}
    return [*cases, Case(id, asked, "more_like_this", index, query, TERMS_ALIKE)]


def _fractions(asked: Asked) -> tuple[Fraction, Fraction | None]:
    return Fraction(asked[0], 100), None if asked[1] is None else Fraction(asked[1], 100)


def _promised(tokens: Sequence[str], asked: Asked) -> float:
    return plan(tokens, *_fractions(asked)).probability_of_finding(asked[0] / 100)


def _find(engine: Bench, case: Case, material: Material, row: Row) -> None:
    """What a request finds of what there is."""
    pairs = {b: exact for (a, b), exact in material.pairs.items() if a == case.source and exact >= case.asked[0] / 100}
    ids = _ask(engine, case, Row(), EVERYTHING)
    row.clauses = max(row.clauses, case.clauses)
    row.matches.append(len(ids))
    all_ids = set(ids)
    row.outcomes += [(exact, id in all_ids) for id, exact in pairs.items()]
    row.shown.append((len(ids[:SIZE]), len(pairs.keys() & set(ids[:SIZE])), min(SIZE, len(pairs))))


def _ask(engine: Bench, case: Case, row: Row, size: int) -> list[str]:
    """Send a request and note its times; the ids of its hits."""
    began = time.perf_counter()
    answer = engine.client.search(index=case.index, body={"query": case.query, "size": size, "_source": False})
    row.wall.append(1000 * (time.perf_counter() - began))
    row.took.append(answer["took"])
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def _similar(search: SimilaritySearch, case: Case) -> Note:
    """The whole way by our client."""
    Meter.noted.clear()
    began = time.perf_counter()
    search.similar(FingerprintQuery(case.source, *_fractions(case.asked)))
    wall = 1000 * (time.perf_counter() - began)
    inside, took = (sum(each) for each in zip(*Meter.noted, strict=True))
    return Note(wall, len(Meter.noted), inside, took)


def print_forms(rows: dict[tuple[Asked, str], Row], promised: dict[Asked, float], title: str) -> None:
    """Milliseconds and recall of each form."""
    print(f"\n{title}\n{'query':<8}{'form':<15}{'clauses':>7}{'matches':>8}{'p50 ms':>8}{'p95':>8}{'took p50':>10}"
          f"{'p95':>5}{'x match':>8}{'recall':>8}{'at it':>7}{'promised':>9}{'in 50':>7}{'true':>7}{'pairs':>6}",
          flush=True)  # fmt: skip
    for (asked, form), row in rows.items():
        at = [was for exact, was in row.outcomes if exact < asked[0] / 100 + 0.03]
        hits, shown, could = (sum(each) for each in zip(*row.shown, strict=True))
        times = statistics.median(row.wall) / statistics.median(rows[asked, "match"].wall)
        promise = f"{promised[asked]:.3f}" if asked[1] and form == "match" else "-"
        print(f"{_name(asked):<8}{form:<15}{row.clauses:>7}{statistics.mean(row.matches):>8,.0f}"
              f"{statistics.median(row.wall):>8.2f}{_p95(row.wall):>8.2f}{statistics.median(row.took):>10.0f}"
              f"{_p95(row.took):>5.0f}{times:>8.2f}{_share([was for _, was in row.outcomes]):>8}{_share(at):>7}"
              f"{promise:>9}{shown / max(1, could):>7.3f}{shown / max(1, hits):>7.3f}{len(row.outcomes):>6}",
              flush=True)  # fmt: skip


def print_client(rows: dict[tuple[Asked, str], Row], notes: dict[Asked, list[Note]]) -> None:
    """What lies between the engine's own time and the caller's."""
    print(f"\nclient overhead, median ms: the raw request (match), and the whole similar() with 10 hits\n{'query':<8}"
          f"{'raw':>7}{'took':>7}{'between':>9}  {'similar':>9}{'p95':>8}{'x raw':>7}{'requests':>10}{'took':>7}"
          f"{'between':>9} = {'HTTP, JSON':>10} + {'ours':>5}")  # fmt: skip
    for asked in QUERIES:
        raw, noted = rows[asked, "match"], notes[asked]
        between = statistics.median(wall - took for wall, took in zip(raw.wall, raw.took, strict=True))
        wall, took = statistics.median(each.wall for each in noted), statistics.median(each.took for each in noted)
        http = statistics.median(each.inside - each.took for each in noted)
        ours = statistics.median(each.wall - each.inside for each in noted)
        print(f"{_name(asked):<8}{statistics.median(raw.wall):>7.2f}{statistics.median(raw.took):>7.0f}{between:>9.2f}"
              f"  {wall:>9.2f}{_p95([each.wall for each in noted]):>8.2f}{wall / statistics.median(raw.wall):>7.2f}"
              f"{statistics.mean(each.requests for each in noted):>10.2f}{took:>7.0f}{wall - took:>9.2f}"
              f"   {http:>10.2f}   {ours:>5.2f}", flush=True)  # fmt: skip


def _name(asked: Asked) -> str:
    return f"_{asked[0]}" + (f"_{asked[1]}" if asked[1] else "")


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def _share(outcomes: list[bool]) -> str:
    return f"{sum(outcomes) / len(outcomes):.3f}" if outcomes else "-"


if __name__ == "__main__":
    main()
