"""Compares what `versions` finds, and in which order, with known families of versions.

    python scripts/versions_truth.py CORPUS [CORPUS...]
    python scripts/versions_truth.py --default CORPUS [CORPUS...]   # an index without --with versions

A corpus is a folder. It contains the documents in `docs`, and two tables:

- `families.tsv` has the columns id, family and version. If all versions are numbers, they give the order.
- `truth.tsv` has the exact overlaps of pairs. Its columns are a, b and jaccard.

Each document is a query in two stores. In one store, the documents have meaningless names, so the order is only guessed
from the texts. In the other store, they have their own names.
"""

from __future__ import annotations

import csv
import hashlib
import sys
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from simdoc_search import Analysis, Document, Settings, SimilaritySearch, VersionsResult, open_store
from simdoc_search.passages.dates import find_latest_day
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.versions import order_by_texts

Names = dict[str, str]

ALL = 10_000
OVERLAPS = (0.1, 0.3, 0.5, 0.8)


def main() -> None:
    """Print the results for each corpus."""
    settings = Settings() if "--default" in sys.argv else Settings(sentences=SentenceSettings())
    for folder in (Path(argument) for argument in sys.argv[1:] if argument != "--default"):
        rows = table(folder / "families.tsv")
        texts = {row["id"]: (folder / "docs" / row["id"]).read_text("utf-8") for row in rows}
        print(f"{folder.name}: {len(texts)} documents")
        hidden = {id: hashlib.sha256(id.encode()).hexdigest() for id in texts}
        nameless, search = (indexed({names[id]: text for id, text in texts.items()}, settings)
                            for names in (hidden, {id: id for id in texts}))  # fmt: skip
        began = time.perf_counter()
        results = {id: search.versions(id, size=ALL) for id in texts}
        print(f"  {(time.perf_counter() - began) / len(texts) * 1000:.0f} ms per query, including changed words")
        print_found(rows, results, folder / "truth.tsv")
        if all(row["version"].isdecimal() for row in rows):
            print_order(rows, nameless, hidden)
            nameless_results = {id: nameless.versions(hidden[id], size=ALL) for id in texts}
            ids = {name: id for id, name in hidden.items()}
            print_newest("meaningless names", rows, nameless_results, ids)
            print_newest("their own names", rows, results, {})


def table(path: Path) -> list[dict[str, str]]:
    """Read the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def indexed(texts: dict[str, str], settings: Settings) -> SimilaritySearch:
    """Index texts in memory, without dates of files."""
    search = SimilaritySearch(open_store(":memory:", settings, create=True))
    search.index(Document(id, text) for id, text in texts.items())
    return search


def print_found(rows: list[dict[str, str]], results: dict[str, VersionsResult], overlaps: Path) -> None:
    """Print precision and recall of the pairs in families, and recall by overlap."""
    family = {row["id"]: row["family"] for row in rows}
    found = {tuple(sorted((id, hit.id))) for id, result in results.items() for hit in result.hits}
    truth = {(a, b) for a, b in combinations(sorted(family), 2) if family[a] == family[b]}
    right = len(found & truth)
    print(f"  pairs of a family: {len(truth)}; found {len(found)}, precision {right / max(1, len(found)):.3f}, "
          f"recall {right / max(1, len(truth)):.3f}")  # fmt: skip
    exact = {tuple(sorted((row["a"], row["b"]))): float(row["jaccard"]) for row in table(overlaps)}
    for overlap in OVERLAPS:
        pairs = {pair for pair, value in exact.items() if value >= overlap}
        recall = len(pairs & found) / max(1, len(pairs))
        print(f"    of {len(pairs)} pairs with an overlap of at least {overlap:.0%}: recall {recall:.3f}")


def print_order(rows: list[dict[str, str]], search: SimilaritySearch, hidden: dict[str, str]) -> None:
    """Print for how many families the guessed order is right."""
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        families[row["family"]].append(row)
    for with_days in (False, True):
        whole = newest = pairs = right = 0
        for members in families.values():
            shuffled = sorted(members, key=lambda row: hidden[row["id"]])
            records = [search.store.get(hidden[row["id"]], load={"text", "sentences", "concepts"}) for row in shuffled]
            texts = [record.text or "" for record in records if record]
            sentences = [compute_sentence_simhashes(text, Analysis()) for text in texts]
            days = [find_latest_day(text) if with_days else None for text in texts]
            order = [int(shuffled[number]["version"]) for number in order_by_texts(sentences, days)]
            whole += order == sorted(order)
            newest += order[-1] == max(order)
            pairs += len(order) * (len(order) - 1) // 2
            right += sum(a < b for a, b in combinations(order, 2))
        source = "sentences and the dates in the texts" if with_days else "sentences alone"
        print(f"  order guessed from {source}: right for {whole} of {len(families)} families, newest right for "
              f"{newest}, {right / max(1, pairs):.3f} of all pairs right")  # fmt: skip


def print_newest(names: str, rows: list[dict[str, str]], results: dict[str, VersionsResult], ids: Names) -> None:
    """Print how many results name the newest version, and how often the newest and the order are right."""
    version = {row["id"]: (row["family"], int(row["version"])) for row in rows}
    claimed = right = last = whole = 0
    for id, result in results.items():
        timeline = [ids.get(entry.name, entry.name) for entry in result.timeline]
        order = [version[other][1] for other in timeline if version[other][0] == version[id][0]]
        last += bool(order) and order[-1] == max(order)
        whole += order == sorted(order)
        if result.newest is not None:
            claimed += 1
            right += version[ids.get(result.newest.name, result.newest.name)] == (version[id][0], max(order))
    print(f"  with {names}: newest named in {claimed} of {len(results)} results, right in {right}; "
          f"last entry is the newest in {last}, whole order right in {whole}")  # fmt: skip


if __name__ == "__main__":
    main()
