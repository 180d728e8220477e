"""A repository of git in which several files of tests commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a new repository, at a time."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)

    def run(*arguments: str, at: str = "2021-03-12T10:00:00Z", given: str = "") -> str:
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        known = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        environment = {**os.environ, **dates, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *known, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True, input=given, env=environment
        )
        return done.stdout.strip()

    run("init", "--quiet")
    return run
