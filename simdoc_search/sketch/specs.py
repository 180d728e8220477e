"""The stored form of a sketch: its name, its version and its parameters.

bucketed:1 512 1 false 4    bucket_count, hash_set_size, with_rotation, characters of a token
scaled:1 8 4                another sketch in its place (`sketch.schemes`), the characters of a token last
"""

from __future__ import annotations

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.schemes import SCHEMES
from simdoc_search.sketch.winnow import PASSAGE_LENGTH, Passages

PASSAGES, PASSAGES_VERSION = "passages", 1
"""The version is raised by one whenever the same text and settings would give other tokens."""

SENTENCES, SENTENCES_VERSION = "sentences", 2
"""Likewise."""

CONCEPTS, CONCEPTS_VERSION = "concepts", 1
"""Likewise."""

WORDS, WORDS_VERSION = "words", 1
"""The version is raised whenever the same text would give other words."""

LANGUAGE, LANGUAGE_VERSION = "language", 1
"""The version is raised if another field holds the language. Another identifier does not raise it."""

LEFT_OUT = {"front-matter": "no_front_matter", "quoted-replies": "no_quotes"}
"""Parts of files that are not text, and their stored names, in version 1."""

NO_SYNONYMS = "-"
_PASSAGES_DEFAULTS = ("32", str(PASSAGE_LENGTH))
_CONCEPTS_DEFAULTS = ("yake", NO_SYNONYMS)


def written(sketch: Sketch, length: int) -> str:
    """Return the stored form of a sketch with tokens of this many characters."""
    return " ".join((f"{sketch.stored_name}:{sketch.version}", *sketch.values, str(length)))


def tokens_of(name: str, spec: str) -> tuple[Sketch, int]:
    """Return the sketch that makes the tokens, and their number of characters, from its stored form.

    Raises:
        ValueError: it is malformed.
        FormatMismatchError: its name or version is unknown.
    """
    if name not in SCHEMES:
        raise FormatMismatchError(
            f"sketch {name:.20}, and this simdoc-search reads {', '.join(SCHEMES)}; "
            "use the version that made it, or index again",
            found=name,
            expected=MinHash.STORED_NAME,
        )
    kind = SCHEMES[name]
    defaults = (*kind().values, "4")
    values = _values(name, spec, kind.version, defaults)
    if values is None:
        raise ValueError(f"{f'{name}:{spec}'!r:.200} is not like {written(kind(), 4)!r}")
    return kind.of_values(values[:-1]), int(values[-1])


def passages_of(spec: str) -> Passages:
    """Parse `1 32 5`. Raises as `tokens_of`."""
    values = _values(PASSAGES, spec, PASSAGES_VERSION, _PASSAGES_DEFAULTS)
    if values is None or values[1] != str(PASSAGE_LENGTH):
        raise ValueError(
            f"{f'{PASSAGES}:{spec}'!r:.200} is not like {f'{PASSAGES}:{PASSAGES_VERSION} 32 {PASSAGE_LENGTH}'!r}"
        )
    return Passages(int(values[0]))


def is_named(name: str, spec: str | None, version: int) -> bool:
    """Whether a sketch without parameters is present, from `1`. Raises as `tokens_of`."""
    if spec is not None and _values(name, spec, version, ()) is None:
        raise ValueError(f"{f'{name}:{spec}'!r:.200} is not like '{name}:{version}'")
    return spec is not None


def concepts_of(spec: str) -> Concepts:
    """Parse `1 yake -`. Raises as `tokens_of`."""
    values = _values(CONCEPTS, spec, CONCEPTS_VERSION, _CONCEPTS_DEFAULTS)
    if values is None:
        raise ValueError(f"{f'{CONCEPTS}:{spec}'!r:.200} is not like '{CONCEPTS}:{CONCEPTS_VERSION} yake -'")
    return Concepts(values[0], "" if values[1] == NO_SYNONYMS else values[1])


def _values(name: str, spec: str, expected: int, defaults: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parameters after the version, with defaults for missing ones; None if they are malformed.

    Raises:
        FormatMismatchError: the version is unknown.
    """
    version, *given = spec.split() or [""]
    if version.isdecimal() and version != str(expected):
        raise FormatMismatchError(
            f"sketch {name}:{version:.20}, and this simdoc-search reads {name}:{expected}; "
            "use the version that made it, or index again",
            found=version,
            expected=str(expected),
        )
    values = (*given, *defaults[len(given) :])
    return values if version == str(expected) and len(values) == len(defaults) else None
