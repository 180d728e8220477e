"""Reads and writes the stored form of sketches: name, version and parameters. Missing parameters have defaults.

    bucketed:1 512 1 false 9    bucket_count, hash_set_size, with_rotation, bits of the hash in a token. The other
                                sketches of `schemes` have other parameters, and then the bits of the hash
    passages:1 32 5             window, characters of a token
    sentences:2                 simhashes of sentences
    concepts:1 yake -           extractor, checksum of the synonyms
    words:1                     no tokens: the words of the texts are indexed, in local stores only
    language:1                  no tokens: the language of each document is identified as metadata
    no_front_matter:1           no tokens: front matter is not part of the text
    no_quotes:1                 no tokens: quoted replies are not part of the text

Increase a version by one if the tokens, words or metadata of a text with the same settings change. An index may have
other sketches. Versions of simdoc-search that do not know a sketch ignore it.
"""

from __future__ import annotations

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.schemes import SCHEMES
from simdoc_search.sketch.tokens import HASH_BITS
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
"""Version and default parameters of each optional sketch. The sketch of the tokens is not optional."""


def stored_form(name: str, *parameters: str) -> str:
    """Return the stored form of an optional sketch."""
    return " ".join((f"{name}:{_OPTIONAL[name][0]}", *parameters))


def stored_form_of_tokens(sketch: Sketch) -> str:
    """Return the stored form of the sketch that makes the tokens."""
    return " ".join((f"{sketch.stored_name}:{sketch.version}", *sketch.stored_values, str(HASH_BITS)))


def parameters_of(name: str, spec: str) -> tuple[str, ...]:
    """Return the parameters of an optional sketch. `spec` is its stored form after the colon, such as `1 32 5`.

    Raises:
        ValueError: the stored form is malformed.
        FormatMismatchError: the version is unknown.
    """
    version, defaults = _OPTIONAL[name]
    parameters = _parsed(name, spec, version, defaults)
    if name == "passages" and parameters[1] != str(PASSAGE_LENGTH):
        raise _malformed(name, spec, version, defaults)
    return parameters


def sketch_of_tokens(name: str, spec: str) -> Sketch:
    """Return the sketch that makes the tokens, from its stored form.

    Raises:
        ValueError: the stored form is malformed.
        FormatMismatchError: the name or the version is unknown.
    """
    if name not in SCHEMES:
        raise unreadable_error(f"sketch {name:.20}", ", ".join(SCHEMES), name, MinHash.stored_name)
    scheme = SCHEMES[name]
    defaults = (*scheme().stored_values, str(HASH_BITS))
    *values, bits = _parsed(name, spec, scheme.version, defaults)
    if bits != str(HASH_BITS):
        raise _malformed(name, spec, scheme.version, defaults)
    return scheme.from_stored_values(values)


def unreadable_error(stored: str, readable: str, found: object, expected: object) -> FormatMismatchError:
    """Return the error for a stored form that this version of simdoc-search cannot read."""
    advice = "use the version that made the index, or index the documents again into a new store"
    message = f"this simdoc-search cannot read {stored}, only {readable}; {advice}"
    return FormatMismatchError(message, found, expected)


def _parsed(name: str, spec: str, known: int, defaults: tuple[str, ...]) -> tuple[str, ...]:
    version, *given = spec.split() or [""]
    if version.isdecimal() and version != str(known):
        raise unreadable_error(f"sketch {name}:{version:.20}", f"{name}:{known}", version, str(known))
    if version != str(known) or len(given) > len(defaults):
        raise _malformed(name, spec, known, defaults)
    return (*given, *defaults[len(given) :])


def _malformed(name: str, spec: str, version: int, defaults: tuple[str, ...]) -> ValueError:
    example = " ".join((f"{name}:{version}", *defaults))
    return ValueError(f"{f'{name}:{spec}'!r:.200} is malformed; it must be like {example!r}")
