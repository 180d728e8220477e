"""What a person reads has plain words; the technical ones stand in `explain` and where settings are chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import cli
from tests.support.cli import output, run, words, write, write_corpus

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
TEMPLATES = ROOT / "simdoc_search" / "web" / "templates"
OF_EXPERTS = {"explain", "tune", "template"}
"""Commands whose answers are plans, settings and mappings."""
TECHNICAL = re.compile(
    r"\b(candidates?|(?<!access )tokens?|bands?|banded|buckets?|shingles?|min-?hash|sim-?hash|hamming|"
    r"s-curve|winnow\w*|jaccard|clauses?|minima|hashe?s?|bits?)\b",
    re.IGNORECASE,
)
"""What is inside; a reader of an answer need not know that there is such a thing."""
NAMES = re.compile(r"--?[a-z][\w-]*|\b[A-Z]{2,}[A-Z_]*\b|\b\w+\.\w+\b|\b\w+:\d+")
"""Options, variables, fields, and a size of a sketch as `--sketch` takes it: names, and no words of a sentence."""


def technical(text: str) -> list[str]:
    """The technical words of a text."""
    return [found.group() for found in TECHNICAL.finditer(NAMES.sub(" ", text))]


def helps() -> Iterator[tuple[str, str]]:
    """What each everyday command says of itself and of its options."""
    yield "simdoc-search", cli.help or ""
    for name, command in sorted(cli.commands.items()):
        if name in OF_EXPERTS:
            continue
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        for each in (command, *inner):
            options = [given.help or "" for given in each.params if isinstance(given, click.Option)]
            yield name, "\n".join([each.help or "", *options])


def test_help_has_plain_words() -> None:
    """Of all commands but those of experts; values of options are names."""
    found = {name: technical(said) for name, said in helps()}

    assert 20 < len(found)
    assert {} == {name: said for name, said in found.items() if said}
    assert {"tokens", "bands"} == set(technical(cli.commands["explain"].help or ""))


def test_only_index_speaks_of_new_stores() -> None:
    """The same options of other commands are for an index that is there, or for a template."""
    assert {"index"} == {name for name, said in helps() if "New store" in said}
    assert "New store" not in output("backfill", "--help") + output("template", "install", "--help")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in a folder with two stores: one that has all, one of fingerprints alone."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"draft.txt": words(0, 150)})
    monkeypatch.chdir(tmp_path)
    output("index", "corpus", "--with", "versions,relations", "--concepts", "names")
    output("index", "corpus", "--store", "bare", "--no-texts", "--no-passages")


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(
    "command",
    [
        ("index", "corpus"),
        ("index", "corpus", "--store", "bare", "--passage-run", 40),
        ("index", "corpus", "--store", "new", "--shingle-size", 31, "--passage-run", 30),
        ("similar", "doc123"),
        ("similar", "doc123_20"),
        ("similar", "doc123_20_80"),
        ("similar", "doc123_20_80", "--estimate"),
        ("similar", "doc123_20", "--store", "bare"),
        ("similar", "doc123", "--measure", "containment"),
        ("similar", "--text", "of these five words none", "--overlap", 50),
        ("similar", "--text", words(0, 12), "--overlap", 10, "--probability", 99),
        ("passages", "doc123"),
        ("passages", "--text", words(0, 20)),
        ("passages", "doc123", "--store", "bare"),
        ("versions", "doc123", "--sentences"),
        ("versions", "doc123", "--store", "bare"),
        ("related", "doc123"),
        ("related", "doc123", "--store", "bare"),
        ("compare", "doc123", "draft.txt"),
        ("duplicates", "--overlap", 40),
        ("duplicates", "--overlap", 40, "--estimate"),
        ("list",),
        ("show", "doc123"),
        ("info",),
        ("info", "--store", "bare"),
        ("languages", "corpus"),
        ("check", "./.simdoc"),
        ("delete", "nothing"),
    ],
    ids=lambda command: " ".join(map(str, command))[:60],
)
def test_answers_have_plain_words(command: tuple[str | int, ...]) -> None:
    """And what goes wrong too."""
    result = run(*command)

    assert [] == technical(result.stdout + result.stderr)
    assert result.stdout + result.stderr


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_pages_in_the_browser_have_plain_words(path: Path) -> None:
    """What is between the tags; `details` of the settings of a store are values."""
    markup = re.sub(r"{%.*?%}|{{.*?}}|<[^>]*>", " ", path.read_text("utf-8"), flags=re.DOTALL)

    assert [] == technical(markup)


EVERYDAY = ["README.md", *(f"docs/{name}.md" for name in (
    "getting_started", "passages", "asking", "duplicates", "versions", "my_files", "serve"
))]  # fmt: skip


@pytest.mark.parametrize("name", EVERYDAY)
def test_pages_for_everybody_have_plain_words(name: str) -> None:
    """But for the clause that an application puts into its query; what is code is a name."""
    page = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", " ", (ROOT / name).read_text("utf-8"), flags=re.DOTALL)

    assert [] == [word for word in technical(page) if word != "clause"]


def terms() -> list[list[str]]:
    """The words that the glossary explains, in its order: those that all read, and those of experts."""
    tables = GLOSSARY.read_text("utf-8").split("## ")[1:]
    return [re.findall(r"^\| (?!Word)(\w.*?) \| .+ \|$", table, re.MULTILINE) for table in tables]


def test_the_glossary_has_each_term_once() -> None:
    """In the order of the alphabet; what is technical is in the table for experts, and all of that is."""
    plain, for_experts = terms()
    every = [*plain, *for_experts]

    assert [plain, for_experts] == [sorted(table, key=str.lower) for table in (plain, for_experts)]
    assert len(every) == len(set(every))
    assert [] == technical(" ".join(plain))
    assert {"documents compared", "words in common", "overlap", "hit", "passage", "fingerprint"} <= set(plain)
    assert {"band", "bucket", "candidate", "clause", "shingle", "simhash", "token"} <= set(for_experts)
