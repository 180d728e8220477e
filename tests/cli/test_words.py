"""Output, help and everyday pages use plain words. `explain`, `tune`, `template` and settings may be technical."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import cli, load_commands
from tests.support.cli import output, run, words, write, write_corpus

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
TEMPLATES = ROOT / "simdoc_search" / "web" / "templates"
EXPERT_COMMANDS = {"explain", "tune", "template"}
"""Commands about plans, settings and mappings."""
TECHNICAL = re.compile(
    r"\b(candidates?|(?<!access )tokens?|bands?|banded|buckets?|shingles?|min-?hash|sim-?hash|hamming|"
    r"s-curve|winnow\w*|jaccard|clauses?|minima|hashe?s?|bits?)\b",
    re.IGNORECASE,
)
"""Matches words about the implementation. A reader of an answer need not know them."""
NAMES = re.compile(r"--?[a-z][\w-]*|\b[A-Z]{2,}[A-Z_]*\b|\b\w+\.\w+\b|\b\w+:\d+")
"""Matches names: options, variables, fields, and values of `--sketch` such as minhash:512."""


def technical(text: str) -> list[str]:
    """Return the technical words in a text."""
    return [match.group() for match in TECHNICAL.finditer(NAMES.sub(" ", text))]


def everyday_help() -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of each everyday command, with the help of its options."""
    yield "simdoc-search", cli.help or ""
    for name, command in sorted(load_commands().items()):
        if name in EXPERT_COMMANDS:
            continue
        subcommands = command.commands.values() if isinstance(command, click.Group) else ()
        for member in (command, *subcommands):
            options = [option.help or "" for option in member.params if isinstance(option, click.Option)]
            yield name, "\n".join([member.help or "", *options])


def test_help_has_plain_words() -> None:
    """Help of expert commands may have technical words."""
    technical_words = {name: technical(text) for name, text in everyday_help()}

    assert 20 < len(technical_words)
    assert {} == {name: found for name, found in technical_words.items() if found}
    assert {"tokens", "bands"} == set(technical(load_commands()["explain"].help or ""))


def test_only_index_has_options_for_new_stores() -> None:
    """The same options of other commands are for an existing index or for a template."""
    assert {"index"} == {name for name, text in everyday_help() if "New index" in text}
    assert "New index" not in output("backfill", "--help") + output("template", "install", "--help")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two stores: one with all kinds of data, and one with fingerprints only."""
    folder = tmp_path_factory.mktemp("words")
    write_corpus(folder / "corpus")
    write(folder, {"draft.txt": words(0, 150)})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        output("index", "corpus", "--with", "versions,related", "--extractor", "names")
        output("index", "corpus", "--store", "bare", "--no-texts", "--no-passages")
    return folder


@pytest.fixture
def corpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to this folder."""
    monkeypatch.chdir(folder)


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
        ("languages", "corpus", "--workers", 1),
        ("check", "./.simdoc"),
        ("delete", "nothing"),
    ],
    ids=lambda command: " ".join(map(str, command))[:60],
)
def test_output_and_errors_have_plain_words(command: tuple[str | int, ...]) -> None:
    result = run(*command)

    assert [] == technical(result.stdout + result.stderr)
    assert result.stdout + result.stderr


def test_pages_in_the_browser_have_plain_words() -> None:
    """Only the text between the tags counts."""
    for path in TEMPLATES.glob("*.html"):
        markup = re.sub(r"{%.*?%}|{{.*?}}|<[^>]*>", " ", path.read_text("utf-8"), flags=re.DOTALL)

        assert [] == technical(markup), path.name


EVERYDAY = ["README.md", *(f"docs/{name}.md" for name in (
    "getting_started", "passages", "similar", "queries", "compare", "duplicates", "new_copies", "plans", "versions",
    "newest", "collection", "indexing", "archives", "browse", "languages", "formats", "settings", "serve"
))]  # fmt: skip


def test_pages_for_everybody_have_plain_words() -> None:
    """Code is not checked. "Clause" is allowed, because applications add one to their queries."""
    for name in EVERYDAY:
        page = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", " ", (ROOT / name).read_text("utf-8"), flags=re.DOTALL)

        assert [] == [word for word in technical(page) if word != "clause"], name


def terms() -> list[list[str]]:
    """Return the words of the two tables of the glossary: everyday words and expert words."""
    tables = GLOSSARY.read_text("utf-8").split("## ")[1:]
    return [re.findall(r"^\| (?!Word)(\w.*?) \| .+ \|$", table, re.MULTILINE) for table in tables]


def test_the_glossary_has_each_term_once() -> None:
    """Each table is in alphabetical order. Technical words are only in the table for experts."""
    plain, for_experts = terms()
    every = [*plain, *for_experts]

    assert [plain, for_experts] == [sorted(table, key=str.lower) for table in (plain, for_experts)]
    assert len(every) == len(set(every))
    assert [] == technical(" ".join(plain))
    assert {"documents compared", "words in common", "overlap", "hit", "passage", "fingerprint"} <= set(plain)
    assert {"band", "bucket", "candidate", "clause", "shingle", "simhash", "token"} <= set(for_experts)
