"""What `simdoc-search duplicates --via engine` says when it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simdoc_search.cli.common import Interrupted

if TYPE_CHECKING:
    from simdoc_search.duplicates import Via


@contextmanager
def going_on_with(via: Via, checkpoint: str | None) -> Iterator[None]:
    """Who presses Ctrl-C hears how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if via == "memory":
            raise
        noted = f"what was asked so far is in {checkpoint}, run the same command to go on"
        raise Interrupted(
            f"interrupted; {noted if checkpoint else 'with --checkpoint FILE another run could go on from here'}"
        ) from None
