"""`--workers`, the number of worker processes of a command."""

from __future__ import annotations

import os
from typing import Final

import click

workers_option: Final = click.option(
    "--workers", type=click.IntRange(min=1), help="Maximum number of worker processes.  [default: one per core]"
)


def worker_count(workers: int | None) -> int:
    """Return the value of `--workers`, or the number of cores if it is not given."""
    return workers or os.cpu_count() or 1
