"""The documents say what is: their code runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import cli
from tests.support import formats
from tests.support.cli import answer, json_lines, output, words, write, write_corpus
from tests.support.engines import call
from tests.support.http_server import indices

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "simdoc_search"
FIRST = [
    "README.md",
    *(f"docs/{name}.md" for name in ("getting_started", "passages", "asking", "duplicates", "versions", "my_files")),
    *(f"docs/{name}.md" for name in ("engines", "python", "my_application")),
]
"""Pages whose commands and code run one after the other, in one folder, as a reader goes through them."""
OF_AN_ENGINE = ["docs/async.md"]
"""Pages whose code needs an engine. tests/search/test_async_similarity_search.py runs it."""
PAGES = [*FIRST, *sorted({f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - {*FIRST})]
TEXT = "\n".join((ROOT / name).read_text("utf-8") for name in PAGES)
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def blocks(language: str, text: str = TEXT) -> list[str]:
    """The code blocks of some pages, or of all, in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


# --- Python ---


MEMORY = '":memory:"'
WITH_CODE = [name for name in PAGES if name not in OF_AN_ENGINE and "```python" in (ROOT / name).read_text("utf-8")]


@pytest.mark.parametrize("name", WITH_CODE)
def test_the_python_of_the_pages_runs_and_prints_what_it_says(name: str) -> None:
    """In one namespace, in order; a value in a comment after print(...) is what is printed."""
    check_python(name, blocks("python", (ROOT / name).read_text("utf-8")))


@pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize("name", [each for each in WITH_CODE if MEMORY in (ROOT / each).read_text("utf-8")])
def test_the_python_of_the_pages_does_the_same_on_an_engine(
    name: str, engine_url: str, request: pytest.FixtureRequest
) -> None:
    """Each store in memory is a new index instead."""
    with indices(request.getfixturevalue(f"{engine_url}_url")) as made:
        page = re.sub(MEMORY, lambda _: f'"{made.engine}/{made.name()}", create=True', (ROOT / name).read_text("utf-8"))
        check_python(name, blocks("python", page))


def check_python(name: str, code: list[str]) -> None:
    """Run the blocks of a page, and compare what they print with their comments."""
    namespace: dict[str, object] = {}
    claimed = []
    for block in code:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(block, name, "exec"), namespace)
        comments = [line.partition("  # ")[2] for line in block.splitlines() if line.startswith("print(")]
        lines = shown.getvalue().splitlines()

        assert len(comments) == len(lines)
        claimed += [pair for pair in zip(comments, lines, strict=True) if is_value(pair[0])]

    assert [] != claimed
    assert [] == [(said, shown) for said, shown in claimed if said != shown]


def is_value(comment: str) -> bool:
    """True for Python literals, False for words."""
    try:
        ast.literal_eval(comment)
    except (SyntaxError, ValueError):
        return False
    return True


# --- commands ---


def console() -> list[tuple[str, list[str]]]:
    """The commands of the console blocks, each with the output shown under it."""
    shown: list[tuple[str, list[str]]] = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            shown.append((line.removeprefix("$ "), []))
        else:
            shown[-1][1].append(line)
    return shown


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in a folder with what the commands name."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"draft.txt": words(0, 150), "ids.txt": "doc123_20\n", "inbox/new.txt": words(0, 140)})
    write(tmp_path, {"judged.tsv": "doc123.txt\treports/half.txt\tyes\ndoc123.txt\tother.txt\tno\n"})
    write(
        tmp_path, {"corpus/contract.docx": formats.docx(), "data/a.txt": words(0, 60), "old_data/a.txt": words(0, 60)}
    )
    write(tmp_path, {"letter.txt": "Ada Quill asked the county council to mend the north pier of Eastmouth harbour."})
    monkeypatch.chdir(tmp_path)
    german = {"id": "reports/german", "text": words(0, 200), "language": "de"}
    output("index", "-", stdin=json_lines(german))


@pytest.fixture
def readme_engine(opensearch_url: str) -> Iterator[str]:
    """The engine that stands for those in the pages, with an application's index; what is made there is removed."""
    call(opensearch_url, "PUT", "/articles/_doc/1?refresh=true", {"text": words(0, 50)})
    call(opensearch_url, "PUT", "/_index_template/articles", {"index_patterns": ["articles-*"]})
    yield opensearch_url
    for index in ("docs", "articles", "simdoc-watches"):
        call(opensearch_url, "DELETE", f"/{index}?ignore_unavailable=true")
    call(opensearch_url, "DELETE", "/_index_template/articles")
    call(opensearch_url, "PUT", "/_ingest/pipeline/articles", {"processors": []})  # also where none was made
    call(opensearch_url, "DELETE", "/_ingest/pipeline/articles")


@pytest.mark.usefixtures("corpus")
def test_the_commands_of_the_pages_run_in_their_order(readme_engine: str) -> None:
    """They print what is shown under them, but for the numbers; the filters find the German report alone.

    `engine` is for test_engine_live.py, `serve` for test_serve.py, `--watch` for test_watch.py, and a loader is
    everybody's own: here it writes a document.
    """
    number = re.compile(r"\d[\d,.]*")
    found = []
    for command, shown in console():
        program, *arguments = [re.sub(r"http://[\w.]+:\d+", readme_engine, each) for each in shlex.split(command, True)]
        if program == "python":
            call(readme_engine, "PUT", "/articles/_doc/2?refresh=true", {"text": words(0, 60)})
        elif arguments[0] not in ("engine", "serve") and "--watch" not in arguments:
            printed = output(*arguments)
            if "language=de" in arguments:
                found = [hit["id"] for hit in answer(*arguments)["hits"]]

            assert "simdoc-search" == program
            assert [number.sub("1", line) for line in shown] == [
                number.sub("1", line) for line in printed.splitlines()[: len(shown)]
            ]
    assert ["reports/german"] == found


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_is_in_the_pages(command: str) -> None:
    """In one of its console blocks."""
    assert [] != [line for line, _ in console() if line.startswith(f"simdoc-search {command}")]


def commands() -> list[click.Command]:
    """All commands, those of groups too."""
    found: list[click.Command] = []
    for command in cli.commands.values():
        found += [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    return found


OTHERS = {"--help", "--data-binary", "--path"}
"""Options of click, of curl, and one that a message of an engine names."""


def test_every_option_in_the_pages_exists() -> None:
    """Also those that are mentioned in the text."""
    known = {name for command in commands() for each in command.params for name in each.opts}
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT))

    assert {"--store", "--json"} < mentioned
    assert set() == mentioned - known - OTHERS


def test_every_example_in_help_runs_as_far_as_it_can() -> None:
    """No example has an option or an argument that its command does not know."""
    examples = [
        re.split(r" {3,}", line.strip())[0]
        for command in [cli, *cli.commands.values()]
        for line in (command.help or "").splitlines()
        if line.strip().startswith("simdoc-search ")
    ]

    assert len(cli.commands) < len(examples)
    for example in examples:
        name, *arguments = shlex.split(example)[1:]
        with click.Context(cli, **cli.context_settings) as context:
            cli.commands[name].make_context(name, arguments, parent=context)


def test_scripts_in_the_documents_exist() -> None:
    """`scripts/...` is a file, and one that can be run."""
    named = set(re.findall(r"`(scripts/[\w.]+)", TEXT + CONTRIBUTING))

    assert {"scripts/demo", "scripts/test", "scripts/check"} <= named
    assert [] == [name for name in named if not (ROOT / name).is_file()]
    assert [] == [name for name in named if "." not in name and not (ROOT / name).stat().st_mode & 0o100]


# --- links and maps ---


@pytest.mark.parametrize("name", [*PAGES, "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(name: str) -> None:
    """Each relative link is a file or folder of the repository, and its part after # a heading there."""
    page = ROOT / name
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    inside = [link.partition("#") for link in links if "://" not in link]

    assert [] != links or name not in {"README.md", "ARCHITECTURE.md"}
    assert [] == [path for path, _, _ in inside if not (page.parent / path).exists()]
    assert [] == [
        f"{path}#{at}" for path, _, at in inside if at and at not in anchors(page.parent / path if path else page)
    ]


def anchors(page: Path) -> list[str]:
    """The headings of a page as links have them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_architecture_mentions_every_folder_and_module() -> None:
    """Of the package's top level, and the folders beside it that are not hidden."""
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
    """A version is released together with its changes."""
    headings = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert headings[0] in {"Unreleased", version("simdoc-search")}
    assert len(headings) == len(set(headings))


# --- in the code ---


def undocumented(node: ast.AST, place: str) -> Iterator[str]:
    """The public classes, functions and methods below a node that have no docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{place}:{child.lineno} {child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, place)


def test_everything_public_has_a_docstring() -> None:
    """Modules, classes, functions and methods."""
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}

    assert trees.keys() >= {"__init__.py", "cli/group.py"}
    assert [] == [name for name, tree in trees.items() if not ast.get_docstring(tree)]
    assert [] == [each for name, tree in trees.items() for each in undocumented(tree, name)]


def repository() -> list[Path]:
    """The files that are in git, or will be; without git, those of the known folders."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=60).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        folders = ("simdoc_search", "tests", "scripts", "index_templates", "examples")
        found = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
        return [path for path in found if path.is_file() and "__pycache__" not in path.parts]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_package_index() -> None:
    """Paths of the machine it was written on, or addresses of registries, would hold nowhere else."""
    folders = "|".join(("work", "root", "tmp/w"))
    hosts = "|".join(("pypi", "pythonhosted", "npmjs"))
    foreign = re.compile(rf"(?<![\w.$}}*/])/(?:{folders})/|https?://[\w.-]*\b(?:{hosts})\.(?:org|com)\b".encode())
    files = repository()

    assert 50 < len(files)
    assert [] == [
        (path.relative_to(ROOT).as_posix(), found[0]) for path in files if (found := foreign.search(path.read_bytes()))
    ]
