"""The code and commands of the docs run, and their links lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import cli, load_commands
from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, words, write, write_corpus
from tests.support.datasets import make_rows, write_rows
from tests.support.documents import write_documents
from tests.support.engines import call
from tests.support.http_server import indices
from tests.support.pages import mask_numbers, omit_lines
from tests.support.scripts import run_script

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "simdoc_search"
TUTORIAL = "docs/getting_started.md"
"""Its commands run in a folder of their own. Its whole output is compared."""
OWN_FILES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            *("duplicates", "new_copies", "passages", "compare", "similar", "queries", "versions", "related"),
            *("collection", "indexing", "archives", "languages", "browse", "backup", "tuning", "datasets", "serve"),
            "agents",
        )
    ),
]
"""Pages whose commands run in this order and in one folder, as a reader runs them."""
WITH_ENGINE = [f"docs/{name}.md" for name in ("engines", "marks", "watch", "loader", "fresh")]
"""Pages whose commands run in this order and in one engine."""
APPLICATION = "docs/my_application.md"
"""A tutorial that tests/test_engine_pages.py runs."""
OF_AN_ENGINE = ["docs/async.md"]
"""Pages whose code needs an engine. tests/search/test_async_similarity_search.py runs it."""
OF_OTHER_TESTS = ["docs/json.md", "docs/upgrading.md"]
"""Pages whose commands tests/test_site.py and tests/test_stored_formats.py run."""
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
TEXT_OF = {name: (ROOT / name).read_text("utf-8") for name in PAGES}
TEXT = "\n".join(TEXT_OF.values())
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def blocks(language: str, text: str = TEXT) -> list[str]:
    """The code blocks in a language, in the text of some pages or of all pages."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


# --- Python ---


MEMORY = '":memory:"'
WITH_CODE = [name for name in PAGES if name not in OF_AN_ENGINE and "```python" in TEXT_OF[name]]


@pytest.mark.parametrize("name", WITH_CODE)
def test_the_python_of_a_page_prints_what_its_comments_say(name: str) -> None:
    check_python(name, blocks("python", TEXT_OF[name]))


@pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize("name", [page for page in WITH_CODE if MEMORY in TEXT_OF[page]])
def test_the_python_of_a_page_prints_the_same_with_an_engine(
    name: str, engine_url: str, request: pytest.FixtureRequest
) -> None:
    with indices(request.getfixturevalue(f"{engine_url}_url")) as made:
        page = re.sub(MEMORY, lambda _: f'"{made.engine}/{made.name()}", create=True', TEXT_OF[name])
        check_python(name, blocks("python", page))


def check_python(name: str, code: list[str]) -> None:
    """Run the blocks of a page, and compare what they print with their comments."""
    namespace: dict[str, object] = {}
    claimed = []
    for block in code:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(block, name, "exec"), namespace)
        ends = [line for line in block.splitlines() if line.startswith(("print(", ")")) and "  # " in line]
        comments = [line.partition("  # ")[2] for line in ends]
        lines = shown.getvalue().splitlines()

        assert len(comments) == len(lines)
        claimed += [pair for pair in zip(comments, lines, strict=True) if is_value(pair[0])]

    assert [] != claimed
    assert [] == [(claim, shown) for claim, shown in claimed if claim != shown]


def is_value(comment: str) -> bool:
    """Return True for a Python literal, and False for words."""
    try:
        ast.literal_eval(comment)
    except (SyntaxError, ValueError):
        return False
    return True


# --- commands ---


def console(pages: list[str]) -> list[tuple[str, list[str]]]:
    """The commands of the console blocks of some pages, each with the output shown under it."""
    shown: list[tuple[str, list[str]]] = []
    for page in pages:
        for line in "".join(blocks("console", TEXT_OF[page])).splitlines():
            if line.startswith("$ "):
                shown.append((line.removeprefix("$ "), []))
            else:
                shown[-1][1].append(line)
    return shown


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_in_this_process: None) -> None:
    """A folder with the files that the commands name. It becomes the current folder."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"draft.txt": words(0, 150), "ids.txt": "doc123\n", "inbox/new.txt": words(0, 140)})
    write(tmp_path, {"judged.tsv": "doc123.txt\treports/half.txt\tyes\ndoc123.txt\tother.txt\tno\n"})
    write(
        tmp_path, {"corpus/contract.docx": formats.docx(), "data/a.txt": words(0, 60), "old_data/a.txt": words(0, 60)}
    )
    write(tmp_path, {"letter.txt": "Ada Quill asked the county council to mend the north pier of Eastmouth harbour."})
    for extension in ("parquet", "jsonl"):
        write_rows(tmp_path / f"data.{extension}", make_rows())
    run_of_words = " ".join(make_rows()[5]["text"].split()[10:23])
    write_rows(tmp_path / "eval.jsonl", [{"question": f"What follows {run_of_words}?"}])
    monkeypatch.chdir(tmp_path)
    german = {"id": "reports/german", "text": words(0, 200), "language": "de"}
    output("index", "corpus")
    output("index", "-", stdin=json_lines(german))


@pytest.fixture
def readme_engine(opensearch_url: str) -> Iterator[str]:
    """The engine for the commands of the pages, with an application's index. Everything in it is removed afterwards."""
    call(opensearch_url, "PUT", "/articles/_doc/1?refresh=true", {"text": words(0, 50)})
    call(opensearch_url, "PUT", "/_index_template/articles", {"index_patterns": ["articles-*"]})
    yield opensearch_url
    for index in ("docs", "articles", "simdoc-watches"):
        call(opensearch_url, "DELETE", f"/{index}?ignore_unavailable=true")
    call(opensearch_url, "DELETE", "/_index_template/articles")
    call(opensearch_url, "PUT", "/_ingest/pipeline/articles", {"processors": []})  # so that there is one to delete
    call(opensearch_url, "DELETE", "/_ingest/pipeline/articles")


NOT_RUN = {"serve", "mcp", "engine"}
"""Commands that run until they are stopped, or that start an engine for development."""


def check_commands(pages: list[str], url: str = "") -> None:
    """Run the commands of some pages, which must succeed, and compare their output with the output shown."""
    for command, shown in console(pages):
        program, *arguments = [re.sub(r"http://[\w.]+:\d+", url, word) for word in shlex.split(command, True)]
        if program == "python":
            call(url, "PUT", "/articles/_doc/2?refresh=true", {"text": words(0, 60)})
        elif arguments[0] not in NOT_RUN and "--watch" not in arguments:
            printed = output(*arguments).splitlines()
            if "language=de" in arguments and "--filter-any" not in arguments and "path=reports/" in arguments:
                assert ["reports/german"] == [hit["id"] for hit in answer(*arguments)["hits"]]

            assert "simdoc-search" == program
            assert mask_numbers(shown) == mask_numbers(printed[: len(shown)]), command


@pytest.mark.usefixtures("corpus")
def test_the_commands_about_your_own_files_run_in_their_order() -> None:
    check_commands(OWN_FILES)


@pytest.mark.usefixtures("corpus")
def test_the_commands_about_an_engine_run_in_their_order(readme_engine: str) -> None:
    output("backfill", f"{readme_engine}/articles", "--text-field", "text")  # the first run, of the tutorial
    check_commands(WITH_ENGINE, readme_engine)


def test_the_tutorial_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_documents(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    run_commands = []
    for command, shown in console([TUTORIAL]):
        _, name, *arguments = (os.path.expanduser(word) for word in shlex.split(command))  # noqa: PTH111 - as a shell
        if name not in NOT_RUN:
            result = run(name, *arguments)
            printed = result.output.replace(f"{tmp_path}/", "").rstrip("\n").splitlines()
            expected = "\n".join(shown).rstrip().splitlines()
            run_commands.append(name)

            assert 0 == result.exit_code
            assert mask_numbers(expected) == mask_numbers(omit_lines(printed, expected)), command
    assert ["duplicates", "duplicates", "apply", "apply", "passages", "versions"] == run_commands


def test_every_page_with_commands_is_run() -> None:
    pages = [name for name in PAGES if "```console" in TEXT_OF[name]]

    assert sorted([*OWN_FILES[1:], *WITH_ENGINE, TUTORIAL, APPLICATION, *OF_OTHER_TESTS]) == pages


@pytest.mark.usefixtures("corpus")
def test_the_page_of_datasets_shows_the_whole_output() -> None:
    block = "".join(blocks("console", TEXT_OF["docs/datasets.md"]))
    commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block, re.MULTILINE)

    assert 2 < len(commands)
    for command, shown in commands:
        assert shown == output(*shlex.split(command)[1:])


def test_every_command_is_in_the_pages() -> None:
    lines = "\n".join(line for line, _ in console([name for name in PAGES if "```console" in TEXT_OF[name]]))

    assert [] == [command for command in load_commands() if f"simdoc-search {command}" not in lines]


def commands() -> list[click.Command]:
    """All commands, including those of command groups."""
    found: list[click.Command] = []
    for command in load_commands().values():
        found += [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    return found


OTHERS = {"--help", "--data-binary", "--file", "--read-only", "--rm", "--tag", "--tmpfs"}
"""Options of click, curl and docker."""


def test_every_option_in_the_pages_exists() -> None:
    known = {name for command in commands() for parameter in command.params for name in parameter.opts}
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT))

    assert {"--store", "--json"} < mentioned
    assert set() == mentioned - known - OTHERS


def test_every_example_in_help_runs_as_far_as_it_can() -> None:
    examples = [
        re.split(r" {3,}", line.strip())[0]
        for command in [cli, *load_commands().values()]
        for line in (command.help or "").splitlines()
        if line.strip().startswith("simdoc-search ")
    ]

    assert len(load_commands()) < len(examples)
    for example in examples:
        name, *arguments = shlex.split(example)[1:]
        with click.Context(cli, **cli.context_settings) as context:
            load_commands()[name].make_context(name, arguments, parent=context)


def test_scripts_in_the_documents_exist() -> None:
    named = set(re.findall(r"`(scripts/[\w.]+)", TEXT + CONTRIBUTING))

    assert {"scripts/demo", "scripts/test", "scripts/check"} <= named
    assert [] == [name for name in named if not (ROOT / name).is_file()]
    assert [] == [name for name in named if "." not in name and not (ROOT / name).stat().st_mode & 0o100]


# --- links and maps ---


@pytest.mark.parametrize("arguments", [("readability.py",), ("reference.py", "--check")])
def test_pages_are_easy_to_read_and_their_tables_current(arguments: tuple[str, ...]) -> None:
    """If this fails, run the script: it lists the sentences, or writes the tables."""
    with pytest.raises(SystemExit) as exited:
        run_script(ROOT / "scripts" / arguments[0], *arguments[1:])

    assert 0 == exited.value.code


def test_the_index_lists_every_page() -> None:
    listed = re.findall(r"^(\w+)$", "".join(blocks("{toctree}", TEXT_OF["docs/index.md"])), re.MULTILINE)

    assert sorted(f"docs/{name}.md" for name in (*listed, "index")) == PAGES[1:]


def test_every_page_begins_with_what_its_reader_can_do() -> None:
    pages = [name for name in PAGES[1:] if name not in ("docs/index.md", "docs/security.md")]

    assert [] == [name for name in pages if not TEXT_OF[name].split("\n", 2)[2].startswith("After this page, ")]


def test_settings_lists_every_environment_variable() -> None:
    source = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    used = set(re.findall(r"\bSIMDOC_[A-Z_]*[A-Z]\b", source))

    assert 10 < len(used)
    assert [] == [name for name in sorted(used) if f"`{name}`" not in TEXT_OF["docs/settings.md"]]


def test_links_lead_to_a_file_and_a_heading() -> None:
    broken = []
    for name in [*PAGES, "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]:
        page = ROOT / name
        links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
        for path, _, heading in (link.partition("#") for link in links if "://" not in link):
            target = page.parent / path if path else page
            if not target.exists() or (heading and heading not in anchors(target)):
                broken.append(f"{name}: {path}#{heading}")

    assert [] == broken


def anchors(page: Path) -> list[str]:
    """The headings of a page, in the form that links use."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_architecture_mentions_every_folder_and_module() -> None:
    inside = [
        f"simdoc_search/{path.name}"
        for path in PACKAGE.iterdir()
        if path.name != "__pycache__" and (path.is_dir() or (path.suffix == ".py" and not path.name.startswith("__")))
    ]

    assert 5 < len(inside)
    assert [] == [
        name for name in [*inside, "index_templates", "tests/", "scripts/", "examples/"] if name not in ARCHITECTURE
    ]


def test_the_newest_change_is_unreleased_or_this_version() -> None:
    headings = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert headings[0] in {"Unreleased", version("simdoc-search")}
    assert len(headings) == len(set(headings))


# --- in the repository ---


def repository() -> list[Path]:
    """The files that git tracks or could add. Without git, the files of the known folders."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=60).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        folders = ("simdoc_search", "tests", "scripts", "index_templates", "examples")
        found = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
        return [path for path in found if path.is_file() and "__pycache__" not in path.parts]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_package_index() -> None:
    folders = "|".join(("work", "root", "tmp/w"))
    hosts = "|".join(("pypi", "pythonhosted", "npmjs"))
    foreign = re.compile(rf"(?<![\w.$}}*/])/(?:{folders})/|https?://[\w.-]*\b(?:{hosts})\.(?:org|com)\b".encode())
    files = repository()

    assert 50 < len(files)
    assert [] == [
        (path.relative_to(ROOT).as_posix(), found[0]) for path in files if (found := foreign.search(path.read_bytes()))
    ]
