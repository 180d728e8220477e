"""Skips tests whose extra is not installed, so that the others run with `.[cli,dev-core]` alone."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata, util

import pytest
from packaging.requirements import Requirement

_NO_MODULE = re.compile(r"No module named '(?!(?:simdoc_search|tests)\b)([\w.]+)")
_NO_EXTRA = re.compile(r"simdoc-search\[([\w,-]+)\]")


def skip_if_extra_is_missing(report: pytest.CollectReport | pytest.TestReport, path: str) -> None:
    """Turn a failure into a skip if it reports a package that is not installed."""
    if not report.failed:
        return
    text = "\n".join([report.longreprtext, *(content for _, content in report.sections)])
    modules = [name for name in _NO_MODULE.findall(text) if not _can_be_imported(name)]
    extras = [name for names in _NO_EXTRA.findall(text) for name in names.split(",") if not _is_installed(name)]
    if modules or extras:
        missing = f"the package {modules[0]}" if modules else f"the extra {extras[0]}"
        report.outcome = "skipped"
        report.longrepr = (path, 0, f"Skipped: {missing} is not installed; the extras dev and recipes have all")


def _can_be_imported(module: str) -> bool:
    """Return whether a module is installed. `opentelemetry` alone does not mean that `opentelemetry.sdk` is, too."""
    try:
        return util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is not installed
        return False


@cache
def _is_installed(extra: str) -> bool:
    """Return whether every package that an extra needs with this Python is installed."""
    for requirement in map(Requirement, metadata.requires("simdoc-search") or ()):
        if requirement.marker is None or not requirement.marker.evaluate({"extra": extra}):
            continue
        try:
            metadata.distribution(requirement.name)
        except metadata.PackageNotFoundError:
            return False
    return True
