"""Change the code of one package at random places with mutmut, and count the changes that its tests notice.

    python scripts/mutation.py query --sample 150 --seed 1

The package is a path below simdoc_search/. Its tests are those in the folder of the same name in tests/, and those in
`--tests`. Tests that are slow or need an engine do not run. The script works in a copy of the repository. It prints the
diff of each mutant that no test noticed. mutmut changes neither decorated functions nor the constants of a module.
Install it with `pip install 'mutmut>=3.8,<4'`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MUTMUT = Path(sys.executable).with_name("mutmut")
SETTINGS = """
[tool.mutmut]
source_paths = ["simdoc_search"]
only_mutate = ["simdoc_search/{package}/*"]
also_copy = {folders}
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"
forkserver_warmup = "collect"
use_git_change_detection = false
"""
FAILED, NO_TESTS = (1, 3), 33  # exit statuses in the files of mutmut: a test failed, or no test calls the function
SURVIVED = (None, 0, NO_TESTS)


def copy_repository(folder: Path, package: str, tests: list[str]) -> None:
    """Copy the files that git tracks, and configure mutmut for the package and its tests."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = listed.stdout.splitlines()
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    entries = sorted({name.split("/")[0] for name in names} - {"simdoc_search", "tests", "pyproject.toml"})
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS.format(package=package, folders=json.dumps(entries), tests=json.dumps(tests)))


def mutmut(folder: Path, *arguments: str, check: bool = True) -> str:
    """Run a command of mutmut, and return what it prints."""
    done = subprocess.run([MUTMUT, *arguments], cwd=folder, check=False, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"mutmut {arguments[0]} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def statuses(folder: Path) -> dict[str, int | None]:
    """Return the exit status of each mutant, or None for one that has not run."""
    files = sorted((folder / "mutants").rglob("*.meta"))
    return {name: status for file in files for name, status in json.loads(file.read_text())["exit_code_by_key"].items()}


def run_mutants(folder: Path, names: list[str]) -> list[str]:
    """Run mutants, one at a time, and return those that survived."""
    mutmut(folder, "run", "--max-children", "1", *names)
    after = statuses(folder)
    return [name for name in names if after[name] in SURVIVED]


def main() -> None:
    """Print the figures and the mutants that survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="such as query or duplicates/plan")
    parser.add_argument("--tests", nargs="*", default=[], metavar="PATH", help="other tests of the package")
    parser.add_argument("--sample", type=int, default=150, metavar="N", help="run N random mutants (default: 150)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_repository(folder, options.package, [f"tests/{options.package}", *options.tests])
        made = mutmut(folder, "run", "none", check=False)  # makes all mutants, and fails because none has this name
        every = sorted(statuses(folder))
        if not every:
            sys.exit(f"mutmut made no mutants:\n{made}")
        sample = sorted(random.Random(options.seed).sample(every, min(options.sample, len(every))))
        survivors = run_mutants(folder, sample)
        # With `collect`, the test modules are imported only once, without a mutant.
        settings = folder / "pyproject.toml"
        settings.write_text(settings.read_text("utf-8").replace('"collect"', '"none"'), "utf-8")
        survivors = run_mutants(folder, survivors) if survivors else []
        after = statuses(folder)
        for name in survivors:
            print(f"\n{name}{' (no test calls it)' if after[name] == NO_TESTS else ''}\n{mutmut(folder, 'show', name)}")
    killed = len(sample) - len(survivors)
    without_test = killed - sum(after[name] in FAILED for name in sample)
    print(
        f"{options.package}: {killed} of {len(sample)} mutants killed ({killed / len(sample):.1%}), {without_test} of "
        f"them by a time limit or a crash; a sample of {len(every)} with seed {options.seed}"
    )


if __name__ == "__main__":
    main()
