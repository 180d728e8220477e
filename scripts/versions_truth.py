"""What `versions` finds, and in which order, against the truth of a folder of version families.

    python scripts/versions_truth.py CORPUS [CORPUS...]
    python scripts/versions_truth.py --default CORPUS [CORPUS...]   # an index without --with versions

A corpus is a folder with the documents in `docs` and a table `families.tsv` of id, family and version; where versions
are numbers, they say the order. `truth.tsv`, if there is one, has the exact overlap of pairs: a, b, jaccard.

Each document is asked about, in a store in which names say nothing, so that all order is proposed, and then in one in
which they are what they are.
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
from simdoc_search.passages.dates import latest_day
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.versions import count_unchanged, propose_order

Names = dict[str, str]

ALL = 10_000
OVERLAPS = (0.1, 0.3, 0.5, 0.8)


def main() -> None:
    """Print what was found and in which order, of each corpus."""
    settings = Settings() if "--default" in sys.argv else Settings(sentences=Sentences())
    for folder in (Path(each) for each in sys.argv[1:] if each != "--default"):
        rows = table(folder / "families.tsv")
        texts = {row["id"]: (folder / "docs" / row["id"]).read_text("utf-8") for row in rows}
        print(f"{folder.name}: {len(texts)} documents")
        hidden = {id: hashlib.sha256(id.encode()).hexdigest() for id in texts}
        nameless, search = (indexed({names[id]: text for id, text in texts.items()}, settings)
                            for names in (hidden, {id: id for id in texts}))  # fmt: skip
        began = time.perf_counter()
        results = {id: search.versions(id, size=ALL) for id in texts}
        print(f"  {(time.perf_counter() - began) / len(texts) * 1000:.0f} ms a question, with the words that changed")
        print_found(rows, results, folder / "truth.tsv")
        if all(row["version"].isdecimal() for row in rows):
            print_order(rows, nameless, hidden)
            asked = {id: nameless.versions(hidden[id], size=ALL) for id in texts}
            shown = {name: id for id, name in hidden.items()}
            print_newest("names that say nothing", rows, asked, shown)
            print_newest("their own names", rows, results, {})


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def indexed(texts: dict[str, str], settings: Settings) -> SimilaritySearch:
    """A search over some texts, without dates of files."""
    search = SimilaritySearch(open_store(":memory:", settings, create=True))
    search.index(Document(id, text) for id, text in texts.items())
    return search


def print_found(rows: list[dict[str, str]], results: dict[str, VersionsResult], overlaps: Path) -> None:
    """Precision and recall of the pairs, by families and by overlap."""
    family = {row["id"]: row["family"] for row in rows}
    found = {tuple(sorted((id, hit.id))) for id, result in results.items() for hit in result.hits}
    truth = {(a, b) for a, b in combinations(sorted(family), 2) if family[a] == family[b]}
    right = len(found & truth)
    print(f"  pairs of a family: {len(truth)}; found {len(found)}, precision {right / max(1, len(found)):.3f}, "
          f"recall {right / max(1, len(truth)):.3f}")  # fmt: skip
    exact = {tuple(sorted((row["a"], row["b"]))): float(row["jaccard"]) for row in table(overlaps)}
    for least in OVERLAPS:
        pairs = {pair for pair, value in exact.items() if value >= least}
        print(f"    of {len(pairs)} pairs that overlap {least:.0%}: {len(pairs & found) / max(1, len(pairs)):.3f}")


def print_order(rows: list[dict[str, str]], search: SimilaritySearch, hidden: dict[str, str]) -> None:
    """In how many families is the order right that is proposed for all of them?"""
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        families[row["family"]].append(row)
    for with_days in (False, True):
        whole = newest = pairs = right = 0
        for members in families.values():
            mixed = sorted(members, key=lambda row: hidden[row["id"]])
            records = [search.store.get(hidden[row["id"]], text=True, sketches=True) for row in mixed]
            found = count_unchanged([sentences_in(each.text or "", Analysis()) for each in records if each])
            days = [latest_day(each.text or "") for each in records if each]
            order = [int(mixed[at]["version"]) for at in propose_order(found, days if with_days else None)]
            whole += order == sorted(order)
            newest += order[-1] == max(order)
            pairs += len(order) * (len(order) - 1) // 2
            right += sum(a < b for a, b in combinations(order, 2))
        said = "and by the days they name" if with_days else "by the sentences alone"
        print(f"  proposed {said}: {whole} of {len(families)} families right, the newest in {newest}, "
              f"{right / max(1, pairs):.3f} of the pairs")  # fmt: skip


def print_newest(named: str, rows: list[dict[str, str]], results: dict[str, VersionsResult], shown: Names) -> None:
    """How many answers claim the newest, how many of these are right, and in how many the last one is the newest?"""
    version = {row["id"]: (row["family"], int(row["version"])) for row in rows}
    claimed = right = last = whole = 0
    for id, result in results.items():
        line = [shown.get(each.name, each.name) for each in result.timeline]
        order = [version[each][1] for each in line if version[each][0] == version[id][0]]
        last += bool(order) and order[-1] == max(order)
        whole += order == sorted(order)
        if result.newest is not None:
            claimed += 1
            right += version[shown.get(result.newest.name, result.newest.name)] == (version[id][0], max(order))
    print(f"  with {named}: the newest claimed in {claimed} of {len(results)} answers, right in {right}; "
          f"the last one is it in {last}, all of the order right in {whole}")  # fmt: skip


if __name__ == "__main__":
    main()
