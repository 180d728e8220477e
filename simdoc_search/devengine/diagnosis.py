"""Why did a node not start? The runner ends without saying what went wrong; Java can be asked to tell.

It is asked in a second start that fails as the first did, since telling costs much time and many megabytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from simdoc_search.devengine.node import Node
from simdoc_search.devengine.packages import Java
from simdoc_search.devengine.processes import exit_code, kill

__all__ = ["reasons_in", "why_it_ends"]

SHOWN = 4
SECONDS = 60.0
POLL_SECONDS = 0.25

THROWN = re.compile(r"Exception <a '([\w/$]+)'(?:\{0x[0-9a-f]+\})?: (.+?)>(?: \(0x[0-9a-f]+\))?\s*$")
GIVEN_UP = "org.codelibs.opensearch.runner.OpenSearchRunnerException"
NO_REASONS = re.compile(
    r"\.(NoSuchMethodError|ClassNotFoundException|NoSuchFieldException|UnsupportedOperationException)$"
)
"""What Java and the libraries try, and do without, in every start."""


def why_it_ends(node: Node, java: Java, jars: Sequence[Path], heap: str, token: str) -> list[str]:
    """Start a node that has just failed once more, and listen.

    Returns:
        The last errors before it gave up; empty if it does not fail this time.
    """
    told = node.folder / "tmp" / "exceptions.log"
    # Two files of that size at most; the older one is of no interest.
    asking = Java(java.program, (*java.options, f"-Xlog:exceptions=info:file={told}::filesize=8M,filecount=1"))
    pid = node.start(asking, jars, heap, token, log=node.folder / "tmp" / "again.log")
    deadline = time.monotonic() + SECONDS
    try:
        while exit_code(pid) is None and time.monotonic() < deadline and not node.answering_pid():
            time.sleep(POLL_SECONDS)
        ended = exit_code(pid) is not None
    finally:
        kill(pid, token)
    return reasons_in(told) if ended else []


def reasons_in(told: Path) -> list[str]:
    """The last errors in what Java told, each one once."""
    reasons: dict[str, None] = {}
    try:
        lines = told.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    for line in lines:
        if not (thrown := THROWN.search(line)):
            continue
        name = thrown[1].replace("/", ".")
        if name == GIVEN_UP:
            break
        if not NO_REASONS.search(name):
            reason = f"{name}: {thrown[2]}"
            reasons.pop(reason, None)  # it counts where it was last
            reasons[reason] = None
    return list(reasons)[-SHOWN:]
