"""Lists the worker processes of this process."""

from __future__ import annotations

import psutil  # type: ignore[import-untyped]

__all__ = ["worker_processes"]


def worker_processes() -> list[psutil.Process]:
    """Return the running worker processes. An engine that the tests started is not among them."""
    return [
        process for process in psutil.Process().children() if "simdoc_search.workers" in " ".join(process.cmdline())
    ]
