"""The worker processes of this one."""

from __future__ import annotations

import psutil  # type: ignore[import-untyped]

__all__ = ["worker_processes"]


def worker_processes() -> list[psutil.Process]:
    """Those that live; an engine that the tests have started is none of them."""
    return [each for each in psutil.Process().children() if "simdoc_search.workers" in " ".join(each.cmdline())]
