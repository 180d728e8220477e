"""Synonyms from files in the format of Solr."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simdoc_search.concepts import ConceptsError, Synonyms, read_synonyms


def synonyms(folder: Path, text: str) -> Synonyms:
    path = folder / "synonyms.txt"
    path.write_text(text, "utf-8")
    return read_synonyms(path)


def replaced(folder: Path, text: str, words: str) -> str:
    return " ".join(word for _, run in synonyms(folder, text).split_into_runs(words.split()) for word in run)


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        ("UK, United Kingdom, Great Britain", "the united kingdom and great britain", "the uk and uk"),
        ("car, automobile => vehicle", "car automobile vehicle", "vehicle vehicle vehicle"),
        ("car, automobile => vehicle, thing", "automobile", "vehicle"),
        ("\ufeff# a comment\n\n  # another\nCar => Vehicle\n", "car", "vehicle"),
        (r"a\, b => one" + "\n" + r"c \=> d, e = f => two", "a b c d e f", "one two two"),
        ("car => motor car", "my motor car", "my motor car"),
        ("a => b\nb => c", "a b c", "c c c"),
        ("b => c\nc => a\na => b", "a b c", "a a a"),
        ("a => b\na => c\na => b", "a", "b"),
        ("heart, heart attack => mi", "heart attack", "mi"),
        ("!, x\ny => ?", "x y", "x y"),
        ("", "a", "a"),
    ],
)
def test_examples_of_rules(tmp_path: Path, rules: str, words: str, expected: str) -> None:
    """Equal names, arrows, comments, escapes, several words, chains, cycles, repeats, names without words."""
    assert expected == replaced(tmp_path, rules, words)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [("a, b\n\n, => c", 3, "an empty term"), ("a => b => c", 1, "more than one =>"), ("# x\na =>", 2, "an empty term")],
)
def test_an_error_names_the_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    with pytest.raises(ConceptsError, match=f"line {line} of the synonym file .*synonyms.txt has {problem}"):
        synonyms(tmp_path, text)


def test_a_missing_file_and_another_encoding_are_reported(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9, b")
    with pytest.raises(ConceptsError, match="check the path"):
        read_synonyms(tmp_path / "none")
    with pytest.raises(ConceptsError, match="not in UTF-8"):
        read_synonyms(tmp_path / "latin")


def test_the_check_value_changes_only_with_the_replacements(tmp_path: Path) -> None:
    """The checksum does not depend on the order of rules or on comments."""
    first = synonyms(tmp_path, "a, b\nc => d").checksum

    assert 6 == len(first)
    assert first == synonyms(tmp_path, "C => d\n# x\nA, B\n").checksum
    assert first != synonyms(tmp_path, "a, b\nc => e").checksum


@pytest.mark.slow
def test_a_long_chain_of_rules_is_read_in_seconds(tmp_path: Path) -> None:
    text = "\n".join(f"w{number} => w{number + 1}" for number in range(100_000))
    began = time.monotonic()

    assert "w100000" == replaced(tmp_path, text, "w0")
    assert time.monotonic() - began < 30
