"""Reads and writes the stored form of sketches: name, version and parameters. Missing parameters get their defaults.

    bucketed:1 512 1 false 9    parameters: bucket_count, hash_set_size, with_rotation, number of hash bits in a token
    passages:1 32 5             parameters: window, number of characters of a token
    sentences:2                 no parameters
    concepts:1 keywords -       parameters: extractor, checksum of the synonyms

The other `SKETCHES` replace `bucketed`. Their last parameter is also the number of hash bits. Settings without tokens
have the same form:

    words:1                     a local store indexes pairs of words of the texts
    language:1                  the language of each document is identified as metadata
    no_front_matter:1           front matter is not part of the text
    no_quotes:1                 quoted replies are not part of the text

Increase a version by one if a code change alters the tokens, words or metadata of a text. If an index has sketches that
this version of simdoc-search does not know, they are ignored.
"""

from __future__ import annotations

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sketches import SKETCHES
from simdoc_search.sketch.tokens import HASH_BITS
from simdoc_search.sketch.winnow import PASSAGE_TOKEN_LENGTH

NO_SYNONYMS = "-"

_OPTIONAL_SKETCHES: dict[str, tuple[int, tuple[str, ...]]] = {
    "passages": (1, ("32", str(PASSAGE_TOKEN_LENGTH))),
    "sentences": (2, ()),
    "concepts": (1, ("keywords", NO_SYNONYMS)),
    "words": (1, ()),
    "language": (1, ()),
    "no_front_matter": (1, ()),
    "no_quotes": (1, ()),
}
"""Version and default parameters of each optional sketch. The sketch of the fingerprint tokens is not optional."""


def format_optional_sketch(name: str, *parameters: str) -> str:
    """Return the stored form of an optional sketch."""
    return " ".join((f"{name}:{_OPTIONAL_SKETCHES[name][0]}", *parameters))


def format_sketch(sketch: Sketch) -> str:
    """Return the stored form of the sketch that makes the fingerprint tokens."""
    return " ".join((f"{sketch.stored_name}:{sketch.version}", *sketch.stored_parameters, str(HASH_BITS)))


def parse_parameters(name: str, spec: str) -> tuple[str, ...]:
    """Return the parameters of an optional sketch. `spec` is its stored form after the colon, such as `1 32 5`.

    Raises:
        ValueError: the stored form is malformed.
        FormatMismatchError: the version is unknown.
    """
    version, defaults = _OPTIONAL_SKETCHES[name]
    parameters = _split_parameters(name, spec, version, defaults)
    if name == "passages" and parameters[1] != str(PASSAGE_TOKEN_LENGTH):
        raise _malformed_error(name, spec, version, defaults)
    return parameters


def parse_sketch(name: str, spec: str) -> Sketch:
    """Return the sketch that makes the fingerprint tokens, given its stored form.

    Raises:
        ValueError: the stored form is malformed.
        FormatMismatchError: the name or the version is unknown.
    """
    if name not in SKETCHES:
        raise unreadable_error(f"sketch {name:.20}", ", ".join(SKETCHES), name, MinHash.stored_name)
    sketch_class = SKETCHES[name]
    defaults = (*sketch_class().stored_parameters, str(HASH_BITS))
    *values, bits = _split_parameters(name, spec, sketch_class.version, defaults)
    if bits != str(HASH_BITS):
        raise _malformed_error(name, spec, sketch_class.version, defaults)
    return sketch_class.from_stored_parameters(values)


def unreadable_error(stored: str, readable: str, found: object, expected: object) -> FormatMismatchError:
    """Return the error for a stored form that this version of simdoc-search cannot read."""
    advice = "use the version that created the index, or index the documents again into a new index"
    message = f"this version of simdoc-search cannot read {stored}, only {readable}; {advice}"
    return FormatMismatchError(message, found, expected)


def _split_parameters(name: str, spec: str, known_version: int, defaults: tuple[str, ...]) -> tuple[str, ...]:
    version, *given_parameters = spec.split() or [""]
    if version.isdecimal() and version != str(known_version):
        raise unreadable_error(f"sketch {name}:{version:.20}", f"{name}:{known_version}", version, str(known_version))
    if version != str(known_version) or len(given_parameters) > len(defaults):
        raise _malformed_error(name, spec, known_version, defaults)
    return (*given_parameters, *defaults[len(given_parameters) :])


def _malformed_error(name: str, spec: str, version: int, defaults: tuple[str, ...]) -> ValueError:
    example = " ".join((f"{name}:{version}", *defaults))
    return ValueError(f"{f'{name}:{spec}'!r:.200} is malformed; it must be like {example!r}")
