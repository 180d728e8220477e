"""Every row that contains a run of words of an evaluation text is found, and no other row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.analysis.words import words
from simdoc_search.dedupe import DedupeOptions, deduplicate_files
from simdoc_search.errors import CorpusError
from tests.support.datasets import read_rows, write_rows


def ngrams(text: str, size: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[begin : begin + size]) for begin in range(len(found) - size + 1)}


def texts(count: int, seed: int, size: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(f"W{chance.randrange(900)}," for _ in range(size)) for _ in range(count)]


def planted() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of which each third contains 10 to 16 words of an evaluation text, in another case."""
    evaluation: list[dict[str, Any]] = [
        {"question": text, "choices": [other, "short one"], "n": 1}
        for text, other in zip(texts(20, 1), texts(20, 2), strict=True)
    ]
    chance = random.Random(3)
    rows: list[dict[str, Any]] = [{"id": number, "text": text} for number, text in enumerate(texts(200, 4))]
    for row in rows[::3]:
        item = chance.choice(evaluation)
        source = chance.choice([item["question"], item["choices"][0]]).upper().split()
        begin, size = chance.randrange(40), chance.randrange(10, 17)
        own = row["text"].split()
        place = chance.randrange(60)
        row["text"] = " ".join([*own[:place], *source[begin : begin + size], *own[place:]])
    return rows, evaluation


@pytest.mark.parametrize("size", [5, 13])
@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_exactly_the_rows_with_a_run_are_removed(size: int, extension: str, tmp_path: Path) -> None:
    rows, evaluation = planted()
    source, evaluated = write_rows(tmp_path / "in.jsonl", rows), write_rows(tmp_path / f"eval.{extension}", evaluation)
    report = deduplicate_files(
        source, tmp_path / "out.jsonl", DedupeOptions(run_words=size), decontaminate=[evaluated], workers=2
    )
    runs = {run for item in evaluation for text in (item["question"], *item["choices"]) for run in ngrams(text, size)}
    expected = {row["id"] for row in rows if ngrams(row["text"], size) & runs}
    kept = {row["id"] for row in read_rows(tmp_path / "out.jsonl")}

    assert len(expected) > 20
    assert {row["id"] for row in rows} - expected == kept
    assert len(expected) == report.removed_counts["evaluation"]
    assert report.evaluation is not None
    assert (60, 20) == (report.evaluation.text_count, report.evaluation.short_text_count)
    for found in report.evaluation_rows:
        assert found.evaluation_text.startswith(f"eval.{extension}:")
        assert size <= len(found.shared_words.split())
        assert found.shared_words in " ".join(words(rows[found.row]["text"]))


def test_a_clean_row_is_kept_if_its_duplicate_has_a_run(tmp_path: Path) -> None:
    clean = " ".join(texts(1, 5))
    secret = " ".join(f"s{number}" for number in range(13))
    write_rows(tmp_path / "in.jsonl", [{"text": f"{clean} {secret}"}, {"text": clean}, {"text": clean}])
    write_rows(tmp_path / "eval.csv", [{"question": secret, "answer": "yes"}])
    report = deduplicate_files(
        tmp_path / "in.jsonl",
        tmp_path / "out.jsonl",
        decontaminate=[tmp_path / "eval.csv"],
        annotate=True,
        pairs=tmp_path / "pairs.jsonl",
    )
    first, second, third = read_rows(tmp_path / "out.jsonl")

    assert (1, {"same text": 1, "same words": 0, "near": 0, "evaluation": 1}) == (
        report.kept_count,
        report.removed_counts,
    )
    assert ("evaluation", "eval.csv:0", secret) == (first["kind"], first["evaluation_text"], first["evaluation_words"])
    assert (None, "kept", 1) == (second["evaluation_text"], second["kind"], third["duplicate_of"])
    assert [{"row": 2, "duplicate_of": 1, "overlap": 1.0, "kind": "same text"}] == read_rows(tmp_path / "pairs.jsonl")


def test_evaluation_rows_are_new_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simdoc_search.dedupe.report.MAX_LISTED_ROWS", 1)
    secret = " ".join(f"s{number}" for number in range(13))
    old, new, evaluated = (
        write_rows(tmp_path / f"{name}.jsonl", [{"text": f"{secret} {name}"}]) for name in ("old", "new", "eval")
    )
    report = deduplicate_files(new, tmp_path / "out.jsonl", decontaminate=[evaluated], against=old)

    assert [0] == [found.row for found in report.evaluation_rows]


def test_an_evaluation_set_without_long_texts_is_an_error(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", [{"text": "one two three"}])
    evaluated = write_rows(tmp_path / "eval.jsonl", [{"question": "one two"}])
    with pytest.raises(
        CorpusError, match="no text of the evaluation set has 13 words or more; choose a smaller number"
    ):
        deduplicate_files(source, tmp_path / "out.jsonl", decontaminate=[evaluated])
