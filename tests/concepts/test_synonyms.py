"""Synonyms: files in the format of Solr and of WordNet."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simdoc_search.concepts import ConceptsError, Synonyms, read_synonyms


def synonyms(folder: Path, text: str) -> Synonyms:
    """Those of a file."""
    path = folder / "synonyms.txt"
    path.write_text(text, "utf-8")
    return read_synonyms(path)


def applied(folder: Path, text: str, words: str) -> str:
    """What they make of words."""
    return " ".join(synonyms(folder, text).applied(words.split()))


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        ("UK, United Kingdom, Great Britain", "the united kingdom and great britain", "the uk and uk"),
        ("car, automobile => vehicle", "car automobile vehicle", "vehicle vehicle vehicle"),
        ("car, automobile => vehicle, thing", "automobile", "vehicle"),
        ("\ufeff# a comment\n\n  # another\nCar => Vehicle\n", "car", "vehicle"),
        (r"a\, b => one" + "\n" + r"c \=> d, e => two", "a b c d e", "one two two"),
        ("car => motor car", "my motor car", "my motor car"),
        ("a => b\nb => c", "a b c", "c c c"),
        ("b => c\nc => a\na => b", "a b c", "a a a"),
        ("a => b\na => c\na => b", "a", "b"),
        ("heart, heart attack => mi", "heart attack", "mi"),
        ("!, x\ny => ?", "x y", "x y"),
        ("", "a", "a"),
    ],
)
def test_rules_of_solr(tmp_path: Path, rules: str, words: str, expected: str) -> None:
    """Equal ones, arrows, comments, escapes, several words, chains, circles, repeats, what has no words, none."""
    assert expected == applied(tmp_path, rules, words)


def test_sets_of_wordnet(tmp_path: Path) -> None:
    """The first word of a set stands for all; of a word in several sets that of the first."""
    text = (
        "s(100000001,1,'car',n,1,11).\ns(100000001,2,'motor_car',n,1,0).\ns(100000001,3,'auto''s',n,1,0).\n"
        "s(100000002,1,'train',n,1,11).\ns(100000002,2,'car',n,2,11).\n"
    )

    assert "car car car train" == applied(tmp_path, text, "motor car car auto's train")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a, b\n\n, => c", 3, "an empty name"),
        ("a => b => c", 1, "more than one =>"),
        ("# x\na =>", 2, "an empty name"),
        ("s(1,1,'x',n,1,1).\ns(1,2,'y',n,1,1)", 2, "is not like s(100000001,1,'entity',n,1,11)."),
    ],
)
def test_an_error_names_the_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    """And says what is wrong with it."""
    with pytest.raises(ConceptsError, match=f"line {line} of the synonyms .*synonyms.txt ") as raised:
        synonyms(tmp_path, text)

    assert what in str(raised.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """It is not there, or no UTF-8."""
    (tmp_path / "latin").write_bytes(b"caf\xe9, b")
    with pytest.raises(ConceptsError, match="check the path"):
        read_synonyms(tmp_path / "none")
    with pytest.raises(ConceptsError, match="not UTF-8"):
        read_synonyms(tmp_path / "latin")


def test_the_check_value_is_that_of_what_counts(tmp_path: Path) -> None:
    """The order of rules and comments make no difference to it; another rule does."""
    first = synonyms(tmp_path, "a, b\nc => d").check

    assert 6 == len(first)
    assert first == synonyms(tmp_path, "C => d\n# x\nA, B\n").check
    assert first != synonyms(tmp_path, "a, b\nc => e").check


@pytest.mark.slow
def test_many_are_read_in_seconds(tmp_path: Path) -> None:
    """200,000 lines, one of them leading to the next."""
    text = "\n".join(f"w{number} => w{number + 1}" for number in range(200_000))
    began = time.monotonic()

    assert "w200000" == applied(tmp_path, text, "w0")
    assert time.monotonic() - began < 60
