"""The stored form of a sketch: its name, its version and its parameters. Missing parameters have defaults.

    bucketed:1 512 1 false 4    bucket_count, hash_set_size, with_rotation, characters of a token; or another sketch of
                                `schemes` in its place, with its parameters and the characters of a token
    passages:1 32 5             window, characters of a token; without it there are no passage tokens
    sentences:2                 simhashes of sentences
    concepts:1 yake -           extractor of concepts, check value of its synonyms
    words:1                     no tokens: an index of the words of the texts, in local stores only
    language:1                  no tokens: the language of each document is identified as metadata
    no_front_matter:1           no tokens: front matter is not part of the text; likewise no_quotes:1

A version is raised by one whenever the same text and settings would give other tokens, words or metadata. An index can
get further sketches: versions of this package that do not know them ignore them.
"""

from __future__ import annotations

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.schemes import SCHEMES
from simdoc_search.sketch.winnow import PASSAGE_LENGTH

NO_SYNONYMS = "-"

_OPTIONAL: dict[str, tuple[int, tuple[str, ...]]] = {
    "passages": (1, ("32", str(PASSAGE_LENGTH))),
    "sentences": (2, ()),
    "concepts": (1, ("yake", NO_SYNONYMS)),
    "words": (1, ()),
    "language": (1, ()),
    "no_front_matter": (1, ()),
    "no_quotes": (1, ()),
}
"""Version and default parameters of everything besides the sketch of the tokens."""


def written(name: str, *parameters: str) -> str:
    """Return the stored form of something optional."""
    return " ".join((f"{name}:{_OPTIONAL[name][0]}", *parameters))


def written_tokens(sketch: Sketch, length: int) -> str:
    """Return the stored form of a sketch with tokens of this many characters."""
    return " ".join((f"{sketch.stored_name}:{sketch.version}", *sketch.values, str(length)))


def parameters_of(name: str, spec: str) -> tuple[str, ...]:
    """Return the parameters of something optional from its stored form after the colon, as `1 32 5`.

    Raises:
        ValueError: it is malformed.
        FormatMismatchError: its version is unknown.
    """
    version, defaults = _OPTIONAL[name]
    parameters = _parsed(name, spec, version, defaults)
    if name == "passages" and parameters[1] != str(PASSAGE_LENGTH):
        raise _malformed(name, spec, version, defaults)
    return parameters


def sketch_of_tokens(name: str, spec: str) -> tuple[Sketch, int]:
    """Return the sketch that makes the tokens, and their number of characters, from its stored form.

    Raises:
        ValueError: it is malformed.
        FormatMismatchError: its name or version is unknown.
    """
    if name not in SCHEMES:
        raise unreadable(f"sketch {name:.20}", ", ".join(SCHEMES), name, MinHash.stored_name)
    kind = SCHEMES[name]
    *values, length = _parsed(name, spec, kind.version, (*kind().values, "4"))
    return kind.of_values(values), int(length)


def unreadable(what: str, readable: str, found: object, expected: object) -> FormatMismatchError:
    """Return the error for something stored that this version cannot read."""
    advice = "use the version that made it, or index again"
    return FormatMismatchError(f"{what}, and this simdoc-search reads {readable}; {advice}", found, expected)


def _parsed(name: str, spec: str, known: int, defaults: tuple[str, ...]) -> tuple[str, ...]:
    version, *given = spec.split() or [""]
    if version.isdecimal() and version != str(known):
        raise unreadable(f"sketch {name}:{version:.20}", f"{name}:{known}", version, str(known))
    if version != str(known) or len(given) > len(defaults):
        raise _malformed(name, spec, known, defaults)
    return (*given, *defaults[len(given) :])


def _malformed(name: str, spec: str, version: int, defaults: tuple[str, ...]) -> ValueError:
    example = " ".join((f"{name}:{version}", *defaults))
    return ValueError(f"{f'{name}:{spec}'!r:.200} is not like {example!r}")
