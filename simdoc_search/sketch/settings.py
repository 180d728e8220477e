"""Defines the settings that determine the tokens of a text.

An index stores its settings, and refuses different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.estimate import CompareTokens, compare_token_ids
from simdoc_search.sketch.key import HASH_KEY_VARIABLE, HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.stored_sketches import (
    NO_SYNONYMS,
    format_optional_sketch,
    format_sketch,
    parse_parameters,
    parse_sketch,
    unreadable_error,
)
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.sketch.winnow import PASSAGE_TOKEN_LENGTH, PassageSettings

if TYPE_CHECKING:
    from simdoc_search.sketch.fingerprint import Fingerprint

LAYOUT_VERSION = 1
"""Version of the stored layout. Increase it if older versions of simdoc-search would misread the settings."""

_PART_FLAGS = {"front-matter": "no_front_matter", "quoted-replies": "no_quotes"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: the analysis, the sketch, and the optional kinds of tokens.

    Attributes:
        analysis: how a text is split into shingles.
        sketch: the sketch that makes tokens from shingles: MinHash, or another of `SKETCHES`.
        passages: settings of passage tokens. None: no passage tokens.
        sentences: settings of sentence simhashes. None: no sentence simhashes.
        concepts: settings of concept tokens. None: no concept tokens.
        identifies_language: whether to identify the language of documents whose metadata does not name it.
        excluded_parts: parts of files that are removed from the text: `front-matter`, `quoted-replies`.
        indexes_word_pairs: whether a local store indexes pairs of words, to find short quotations. This requires
            stored texts and passage tokens. Comparisons of settings ignore this attribute.
        unknown_specs: stored specs that this version of simdoc-search does not know. They are kept, but comparisons of
            settings ignore them.
        thresholds: default thresholds of `versions` and `related`. `stores.upgrade` can change them at any
            time. Comparisons of settings ignore them.

    Raises:
        ValueError: the sketch does not support tokens in the format `bucketed`; see `Fingerprint.token_ids`.
    """

    analysis: Analysis = field(default_factory=Analysis)
    sketch: Sketch = field(default_factory=MinHash)
    passages: PassageSettings | None = field(default_factory=PassageSettings)
    sentences: SentenceSettings | None = None
    concepts: ConceptSettings | None = None
    identifies_language: bool = False
    excluded_parts: tuple[str, ...] = ()
    indexes_word_pairs: bool = field(default=True, compare=False)
    unknown_specs: tuple[str, ...] = field(default=(), compare=False, repr=False)
    thresholds: SimilarityThresholds = field(default_factory=SimilarityThresholds, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in (
            ("passages", PassageSettings),
            ("sentences", SentenceSettings),
            ("concepts", ConceptSettings),
        ):
            if not isinstance(getattr(self, name), kind | None):
                raise ValueError(f"{name} must be {kind.__name__} or None, not {getattr(self, name)!r:.60}")
        if list(self.excluded_parts) != [part for part in _PART_FLAGS if part in self.excluded_parts]:
            raise ValueError(
                f"excluded_parts may only contain {' and '.join(_PART_FLAGS)}, in this order, not "
                f"{self.excluded_parts!r:.60}"
            )
        self.sketch.require_bucketed_tokens()

    @property
    def stored_sketch(self) -> str:
        """The sketch that makes the tokens, in stored form."""
        return format_sketch(self.sketch)

    @property
    def stored_token_kinds(self) -> tuple[str, ...]:
        """The optional kinds of tokens, in stored form. Unknown kinds are not included."""
        kinds = []
        if self.passages is not None:
            kinds.append(format_optional_sketch("passages", str(self.passages.window), str(PASSAGE_TOKEN_LENGTH)))
        if self.sentences is not None:
            kinds.append(format_optional_sketch("sentences"))
        if self.concepts is not None:
            kinds.append(
                format_optional_sketch(
                    "concepts", self.concepts.extractor, self.concepts.synonyms_checksum or NO_SYNONYMS
                )
            )
        return tuple(kinds)

    @property
    def stored_specs(self) -> tuple[str, ...]:
        """The stored forms of the sketch, the optional kinds of tokens and the flags, then the unknown specs."""
        flags = ["words"] * self.indexes_word_pairs + ["language"] * self.identifies_language
        flags += [_PART_FLAGS[part] for part in self.excluded_parts]
        return self.stored_sketch, *self.stored_token_kinds, *map(format_optional_sketch, flags), *self.unknown_specs

    @property
    def compare_tokens(self) -> CompareTokens:
        """The function that compares the tokens of two documents."""
        return partial(compare_token_ids, slot_count=0 if self.sketch.fills_all_slots else self.sketch.slot_count)

    def token_ids_and_terms(self, fingerprint: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """Return the token ids for comparing documents, and the terms for queries.

        No terms are returned, because queries use the token ids. `MinHashFieldSettings` returns terms.
        """
        return fingerprint.token_ids(), ()

    def satisfies(self, requested: Settings) -> bool:
        """Whether an index with these settings satisfies the requested settings.

        If passage tokens with the default settings are requested, an index without passage tokens is accepted, because
        only `passages` queries need them. An index may have sentences, concepts or languages that were not requested.
        """
        return self == replace(
            requested,
            passages=None if self.passages is None and requested.passages == PassageSettings() else requested.passages,
            sentences=requested.sentences or self.sentences,
            concepts=requested.concepts or self.concepts,
            identifies_language=requested.identifies_language or self.identifies_language,
            excluded_parts=requested.excluded_parts or self.excluded_parts,
        )

    def for_local_store(self, store_texts: bool) -> Settings:
        """Return the settings for a new local store. Word pairs are indexed only if it has texts and passage tokens."""
        return replace(self, indexes_word_pairs=self.indexes_word_pairs and store_texts and self.passages is not None)

    def with_key(self, key: HashKey | None) -> Settings:
        """Return the same settings with another key, or without a key."""
        return replace(self, sketch=_with_key(self.sketch, key))

    def with_verified_key(self, key: HashKey | None, location: str) -> Settings:
        """Check that the caller has the key of the store, and return these settings with this key.

        The stored settings have only the checksum of the key.

        Args:
            key: the key of the caller.
            location: the location of the store, for messages.

        Raises:
            FormatMismatchError: the caller and the store have different keys, or only one of them has a key.
        """
        store_key = self.sketch.key
        if store_key == key:
            return self.with_key(key)
        if key is None:
            problem = f"{location} was created with a secret hash key; set {HASH_KEY_VARIABLE} to this key"
        elif store_key is None:
            problem = f"{location} was created without a hash key; unset {HASH_KEY_VARIABLE}, or index into a new index"
        else:
            problem = (
                f"{location} was created with a different hash key; set {HASH_KEY_VARIABLE} to the key of the index"
            )
        raise FormatMismatchError(problem, found=store_key, expected=key)

    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON, including the layout version. They contain the checksum of a key, but not the key."""
        values = {"version": LAYOUT_VERSION, "analysis": self.analysis.to_dict(), "sketches": list(self.stored_specs)}
        values |= {"thresholds": self.thresholds.to_text()} if self.thresholds != SimilarityThresholds() else {}
        return values | ({"hash_key_check": self.sketch.key.checksum} if self.sketch.key else {})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """Return the settings that `to_dict` wrote. Missing values get their defaults.

        Raises:
            FormatMismatchError: a newer version of simdoc-search wrote the settings, or they are damaged.
        """
        check_layout_version(values.get("version") if isinstance(values, dict) else None)
        try:
            analysis, sketches = Analysis.from_dict(values.get("analysis", {})), values.get("sketches", [])
            if not isinstance(sketches, list) or not all(isinstance(spec, str) for spec in sketches):
                raise ValueError(f"sketches must be a list of strings, not {sketches!r:.200}")
            settings = cls.from_stored_specs(analysis, sketches, values.get("hash_key_check"))
            return (
                replace(settings, thresholds=SimilarityThresholds.from_text(values["thresholds"]))
                if "thresholds" in values
                else settings
            )
        except ValueError as error:
            message = (
                f"the stored settings of the index are damaged ({error}); index the documents again into a new index"
            )
            raise FormatMismatchError(message) from error

    @classmethod
    def from_stored_specs(
        cls, analysis: Analysis, stored_specs: Iterable[str], key_checksum: str | None = None
    ) -> Settings:
        """Return settings from an analysis and `stored_specs`.

        Raises:
            ValueError: there are no specs, or one is malformed.
            FormatMismatchError: the sketch that makes the tokens, or the version of a spec, is unknown.
        """
        specs: dict[str, str] = {}
        for stored_spec in stored_specs:
            name, colon, spec = stored_spec.partition(":")
            if not name or not colon or name in specs:
                raise ValueError(f"{stored_spec!r:.200} is malformed, or its name occurs twice; write NAME:SETTINGS")
            specs[name] = spec

        def take_flag(name: str) -> bool:
            is_present = name in specs
            if is_present:
                parse_parameters(name, specs.pop(name))
            return is_present

        if not specs:
            raise ValueError("the sketches are missing")
        main = next(iter(specs))
        sketch = parse_sketch(main, specs.pop(main))
        passages = concepts = None
        if "passages" in specs:
            window, _ = parse_parameters("passages", specs.pop("passages"))
            passages = PassageSettings(int(window))
        if "concepts" in specs:
            extractor, synonyms = parse_parameters("concepts", specs.pop("concepts"))
            concepts = ConceptSettings(extractor, "" if synonyms == NO_SYNONYMS else synonyms)
        key = None if key_checksum is None else HashKey.from_checksum(key_checksum)
        return cls(
            analysis,
            _with_key(sketch, key),
            passages,
            SentenceSettings() if take_flag("sentences") else None,
            concepts,
            take_flag("language"),
            tuple(part for part, name in _PART_FLAGS.items() if take_flag(name)),
            take_flag("words"),
            tuple(f"{name}:{spec}" for name, spec in specs.items()),
        )


def check_layout_version(version: object) -> None:
    """Raise a FormatMismatchError if a layout version is missing, or this version of simdoc-search cannot read it."""
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= LAYOUT_VERSION:
        readable = f"versions up to {LAYOUT_VERSION}"
        raise unreadable_error(f"format version {version!s:.50}", readable, version, LAYOUT_VERSION)


def _with_key(sketch: Sketch, key: HashKey | None) -> Sketch:
    keyed: Sketch = replace(cast(Any, sketch), key=key)  # every sketch is a dataclass with a key
    return keyed
