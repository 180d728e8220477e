"""Command lines that messages recommend, ready to be copied."""

from __future__ import annotations

import os
import shlex

from simdoc_search.display import safe_message

DEFAULT_STORE = "./.simdoc"


def command_line(store: str, command: str, *arguments: str) -> str:
    """Return a command line, with `--store` if the store is not the default."""
    is_default = store in (DEFAULT_STORE, os.environ.get("SIMDOC_STORE"))
    store_arguments = [] if is_default else ["--store", safe_message(store)]
    return shlex.join(["simdoc-search", command, *arguments, *store_arguments])
