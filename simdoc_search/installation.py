"""Finds out how this package was installed, so that messages can say how to install what is missing."""

from __future__ import annotations

import os
import sys

_PACKAGE_NAME = "simdoc-search"
_EXTRAS_INCLUDED_IN_FULL = {
    "cli",
    "documents",
    "frontmatter",
    "language",
    "local",
    "lucene",
    "versions",
    "watch",
    "web",
}
"""The extras that `full` includes."""


def install_command(extra: str) -> str:
    """Return the command that adds an extra, or several separated by commas, to this installation.

    pipx and uv keep this package in a separate environment, which `pip install` does not change. `uv tool install`
    removes extras that the command does not name, so the command also names `full`.
    """
    if _environment_has_file("pipx_metadata.json"):
        return f"pipx inject {_PACKAGE_NAME} '{_PACKAGE_NAME}[{extra}]'"
    if _environment_has_file("uv-receipt.toml"):
        others = [name for name in extra.split(",") if name not in _EXTRAS_INCLUDED_IN_FULL]
        extras = ",".join(["full", *others])
        import shlex  # noqa: PLC0415 - rarely needed

        return f"uv tool install {shlex.quote(f'{_find_source()}[{extras}]')}"
    return f"pip install '{_PACKAGE_NAME}[{extra}]'"


def _environment_has_file(name: str) -> bool:
    """Return whether the Python environment contains the file by which pipx or uv marks its environments."""
    return os.path.isfile(os.path.join(sys.prefix, name))  # noqa: PTH113, PTH118 - importing pathlib takes 7 ms


def _find_source() -> str:
    """Return the folder that this package was installed from, or the name of the package if there is no such folder."""
    import json  # noqa: PLC0415 - rarely needed
    from importlib import metadata  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    try:
        text = metadata.distribution(_PACKAGE_NAME).read_text("direct_url.json")
        url = urlsplit(json.loads(text)["url"] if text else "")
    except (metadata.PackageNotFoundError, ValueError, KeyError, OSError):
        return _PACKAGE_NAME
    return url2pathname(url.path) if url.scheme == "file" else _PACKAGE_NAME
