"""Makes the description of the package on PyPI from README.md. Hatchling runs it when it builds the package.

PyPI cannot show relative links. They become links to the tag of this version in the `Repository` of `[project.urls]`.
If there is no `Repository`, links are replaced with their text, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)\n*")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        repository = metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": without_relative_links(text, repository, metadata["version"]),
        }


def without_relative_links(text: str, repository: str, version: str) -> str:
    """Make the links of a Markdown text absolute, or remove them if `repository` is empty."""
    if not repository:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    base = repository.rstrip("/")
    pictures = _PICTURE.sub(
        lambda match: match[0].replace(f"({match[2]})", f"({base}/raw/v{version}/{match[2]})"), text
    )
    return _LINK.sub(rf"[\1]({base}/blob/v{version}/\2)", pictures)
