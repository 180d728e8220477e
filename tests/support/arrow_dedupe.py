"""Runs the Arrow functions of `dedupe` one after the other, as an engine would."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from simdoc_search.dedupe import DedupeOptions, deduplicate
from simdoc_search.dedupe import arrow_functions as af
from simdoc_search.dedupe import arrow_pairs as ap

__all__ = ["dedupe_with_arrow", "expected_duplicates", "make_template_rows"]


def make_template_rows(count: int, *, changed_words: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return rows made from one template of 60 words, with some of the words changed. A few are copies."""
    chance = random.Random(seed)
    template = [f"t{number}" for number in range(60)]
    texts: list[str] = []
    for number in range(count):
        words = template.copy()
        for place in chance.sample(range(60), changed_words):
            words[place] = f"w{chance.randrange(100_000)}"
        texts.append(chance.choice(texts) if number % 5 == 4 else " ".join(words))
    return [{"id": number, "text": text, "score": chance.randrange(100)} for number, text in enumerate(texts)]


def expected_duplicates(table: pa.Table, options: DedupeOptions) -> dict[int, int]:
    """Return what `dedupe_with_arrow` must return, as found by `deduplicate`."""
    kept_rows = deduplicate(table, options, annotate=True).data.column("duplicate_of").to_pylist()
    return {row: kept_row for row, kept_row in enumerate(kept_rows) if kept_row is not None}


def dedupe_with_arrow(table: pa.Table, options: DedupeOptions, rows_per_batch: int = 50) -> dict[int, int]:
    """Map the number of each duplicate to the number of its kept row."""
    sketched = [af.sketch_rows(batch, options) for batch in table.to_batches(rows_per_batch)]
    rows = pa.Table.from_batches(sketched).append_column("row", pa.array(range(len(table))))
    rows = rows.append_column("text", table.column(options.text)).filter(pc.is_valid(pc.field("words")))
    records = rows.to_pylist()
    equal, copies = Counter(row["text_hash"] for row in records), Counter(row["words"] for row in records)
    kept: dict[bytes, dict[str, Any]] = {}
    for row in sorted(
        records, key=lambda row: (row["preference"], -equal[row["text_hash"]], row["text_hash"], row["row"])
    ):
        kept.setdefault(row["words"], row)
    for row in kept.values():
        row |= {"equal": equal[row["text_hash"]], "copies": copies[row["words"]]}
    ranked = af.add_ranks(pa.RecordBatch.from_pylist(list(kept.values())), options)
    short = Counter(af.make_short_text_keys(ranked, options).column("key").to_pylist())
    keys = pa.Table.from_batches([af.make_band_keys(ranked, options, {key: n for key, n in short.items() if n > 8})])
    entries = keys.sort_by([("key", "ascending"), ("rank", "ascending")]).combine_chunks().to_batches(rows_per_batch)
    pairs = pa.Table.from_batches(ap.pair_equal_keys(entries)).filter(pc.is_valid(pc.field("second")))
    pairs = pairs.group_by(["first", "second"]).aggregate([])
    by_rank = {row["rank"]: row for row in ranked.to_pylist()}
    for side in ("first", "second"):
        for name in ("shingles", "tokens", "text"):
            pairs = pairs.append_column(
                f"{side}_{name}", pa.array([by_rank[rank][name] for rank in pairs[side].to_pylist()])
            )
    verified = pa.Table.from_batches(
        [ap.verify_pairs(batch, options) for batch in pairs.combine_chunks().to_batches(rows_per_batch)]
    )
    target = {row["second"]: row["first"] for row in ap.choose_kept(verified).to_pylist()}
    row_of_words = {row["words"]: by_rank[target.get(row["rank"], row["rank"])]["row"] for row in ranked.to_pylist()}
    return {row["row"]: row_of_words[row["words"]] for row in records if row["row"] != row_of_words[row["words"]]}
