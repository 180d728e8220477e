"""A git repository for several modules of tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a function that runs git in a new repository, with a date for commits."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)

    def run(*arguments: str, date: str = "2021-03-12T10:00:00Z", stdin: str = "") -> str:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        user = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        environment = {**os.environ, **dates, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *user, *arguments]
        completed = subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True, input=stdin, env=environment
        )
        return completed.stdout.strip()

    run("init", "--quiet")
    return run
