"""Everything that decides which tokens a text gets. An index remembers it, and refuses others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.tokens import TOKEN_LENGTHS, check_bucketed

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

    Raises:
        ValueError: there are no bucketed tokens of these settings; see `Fingerprint.codes`.
    """

    analysis: Analysis = field(default_factory=Analysis)
    minhash: MinHash = field(default_factory=MinHash)
    token_length: int = 4

    def __post_init__(self) -> None:
        if self.token_length not in TOKEN_LENGTHS or isinstance(self.token_length, bool):
            raise ValueError(f"token_length must be 4 or 5, not {self.token_length!r}")
        check_bucketed(self.minhash, self.token_length)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, with the format version."""
        return {"version": FORMAT_VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The settings that `to_dict` wrote.

        Raises:
            FormatMismatchError: they come from a newer version, or lack a part.
        """
        version = values.get("version") if isinstance(values, dict) else None
        if version != FORMAT_VERSION:
            raise FormatMismatchError(
                f"format version {version}, and this simdoc-search reads {FORMAT_VERSION}; "
                "use the version that made it, or index again",
                found=version,
                expected=FORMAT_VERSION,
            )
        try:
            return cls(
                Analysis(**_complete(Analysis, values.get("analysis"))),
                MinHash(**_complete(MinHash, values.get("minhash"))),
                values.get("token_length", 0),
            )
        except ValueError as error:
            raise FormatMismatchError(f"damaged settings ({error}); index again") from error


def _complete(cls: type, values: object) -> dict[str, Any]:
    """The values of a part, none missing and none more."""
    names = {each.name for each in fields(cls)}
    if not isinstance(values, dict) or set(values) != names:
        raise ValueError(f"{cls.__name__} has the settings {', '.join(sorted(names))}, not {values!r:.200}")
    return values
