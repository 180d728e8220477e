"""Everything that decides which tokens a text gets. An index remembers it, and refuses others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.minhash import MinHash

__all__ = ["FORMAT_VERSION", "Settings"]

FORMAT_VERSION = 1
"""Raised by one whenever the same text and settings would give other tokens."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: analysis, MinHash and the form of a token.

    Attributes:
        analysis: text to shingles.
        minhash: shingles to bucket minima.
        token_length: characters of a token, 4 (24 bits) or 5 (30 bits).
    """

    analysis: Analysis = field(default_factory=Analysis)
    minhash: MinHash = field(default_factory=MinHash)
    token_length: int = 4

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, with the format version."""
        return {"version": FORMAT_VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The settings that `to_dict` wrote.

        Raises:
            FormatMismatchError: they come from a newer version, or lack a part.
        """
        version = values.get("version")
        if version != FORMAT_VERSION:
            raise FormatMismatchError(
                f"the index has format version {version}, this simdoc-search reads {FORMAT_VERSION}; "
                "use the version that made it, or index again",
                found=version,
                expected=FORMAT_VERSION,
            )
        try:
            return cls(
                Analysis(**_known(Analysis, values["analysis"])),
                MinHash(**_known(MinHash, values["minhash"])),
                values["token_length"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatMismatchError(f"the settings of the index are damaged ({error}); index again") from error


def _known(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(cls)}
    unknown = sorted(set(values) - names)
    if unknown:
        raise ValueError(f"unknown setting {unknown[0]!r}")
    return values
