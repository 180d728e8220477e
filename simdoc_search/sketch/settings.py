"""The settings that decide which tokens a text gets. An index stores them, and refuses queries made with others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import TOKEN_LENGTH, Sketch
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.estimate import Estimate
from simdoc_search.sketch.key import HASH_KEY, HashKey
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.stored_sketches import (
    NO_SYNONYMS,
    parameters_of,
    sketch_of_tokens,
    unreadable,
    written,
    written_tokens,
)
from simdoc_search.sketch.tokens import TOKEN_LENGTHS
from simdoc_search.sketch.winnow import PASSAGE_LENGTH, Passages

if TYPE_CHECKING:
    from simdoc_search.sketch.fingerprint import Fingerprint

LAYOUT_VERSION = 3
"""Version of the stored layout. In layout 1 every part was required, and there was one unnamed sketch. In layout 2
tokens are always `bucketed` and shingles are runs of all words. Settings that layout 2 can express are still written
in it, so that older versions can read them.
"""

_LEFT_OUT = {"front-matter": "no_front_matter", "quoted-replies": "no_quotes"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: analysis, sketch and form of the tokens, and optional token kinds.

    Attributes:
        analysis: settings from text to shingles.
        minhash: settings from shingles to minima, or another sketch of `schemes`.
        token_length: characters of a token, 4 (24 bits) or 5 (30 bits).
        passages: settings of passage tokens; None for none.
        sentences: settings of sentence simhashes; None for none.
        concepts: settings of concept tokens; None for none.
        language: whether to identify the language of documents that do not state it.
        left_out: parts of files that are not text: `front-matter`, `quoted-replies`.
        words: whether a local store indexes the words of its texts, to find short quotations; needs stored texts and
            passage tokens. Ignored by comparisons of settings.
        others: stored sketches that this version does not know. Ignored by comparisons of settings.
        limits: default limits of versions and related documents; `stores.upgrade` changes them at any time. Ignored by
            comparisons of settings.

    Raises:
        ValueError: these settings have no bucketed tokens; see `Fingerprint.codes`.
    """

    analysis: Analysis = field(default_factory=Analysis)
    minhash: Sketch = field(default_factory=MinHash)
    token_length: int = TOKEN_LENGTH
    passages: Passages | None = field(default_factory=Passages)
    sentences: Sentences | None = None
    concepts: Concepts | None = None
    language: bool = False
    left_out: tuple[str, ...] = ()
    words: bool = field(default=True, compare=False)
    others: tuple[str, ...] = field(default=(), compare=False, repr=False)
    limits: Limits = field(default_factory=Limits, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.token_length not in TOKEN_LENGTHS or isinstance(self.token_length, bool):
            raise ValueError(f"token_length must be 4 or 5, not {self.token_length!r}")
        for name, kind in (("passages", Passages), ("sentences", Sentences), ("concepts", Concepts)):
            if not isinstance(getattr(self, name), kind | None):
                raise ValueError(f"{name} must be {kind.__name__} or None, not {getattr(self, name)!r:.60}")
        if list(self.left_out) != [part for part in _LEFT_OUT if part in self.left_out]:
            raise ValueError(f"left_out has some of {', '.join(_LEFT_OUT)}, in this order, not {self.left_out!r:.60}")
        self.minhash.check_tokens()

    @property
    def layout(self) -> int:
        """The version of the layout in which these settings are stored."""
        return 2 if self.minhash.stored_name == MinHash.stored_name and self.analysis.is_plain else LAYOUT_VERSION

    @property
    def of_tokens(self) -> str:
        """The sketch of the tokens, as stored."""
        return written_tokens(self.minhash, self.token_length)

    @property
    def further(self) -> tuple[str, ...]:
        """The known optional token kinds, as stored."""
        specs = []
        if self.passages is not None:
            specs.append(written("passages", str(self.passages.window), str(PASSAGE_LENGTH)))
        if self.sentences is not None:
            specs.append(written("sentences"))
        if self.concepts is not None:
            specs.append(written("concepts", self.concepts.extractor, self.concepts.synonyms or NO_SYNONYMS))
        return tuple(specs)

    @property
    def sketches(self) -> tuple[str, ...]:
        """All sketches as stored, unknown ones included."""
        flags = ["words"] * self.words + ["language"] * self.language + [_LEFT_OUT[part] for part in self.left_out]
        return self.of_tokens, *self.further, *map(written, flags), *self.others

    @property
    def estimate(self) -> Estimate:
        """The function that compares the tokens of two documents."""
        return partial(self.minhash.shared_and_union, length=self.token_length)

    def codes_and_terms(self, fingerprint: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """Return the codes that compare a text, and the terms to query; no terms where they are the encoded codes."""
        return fingerprint.codes(self.token_length), ()

    def satisfies(self, requested: Settings) -> bool:
        """Whether an index with these settings can serve the requested ones.

        An index without passage tokens can, if they were requested by default: everything but passages works. An index
        with sentences, concepts or languages can, if none were requested.
        """
        return self == replace(
            requested,
            passages=None if self.passages is None and requested.passages == Passages() else requested.passages,
            sentences=requested.sentences or self.sentences,
            concepts=requested.concepts or self.concepts,
            language=requested.language or self.language,
            left_out=requested.left_out or self.left_out,
        )

    def for_local(self, store_texts: bool) -> Settings:
        """Return the settings for a new local store: words are indexed only with texts and passage tokens."""
        return replace(self, words=self.words and store_texts and self.passages is not None)

    def with_key(self, key: HashKey | None) -> Settings:
        """Return the same settings with another key, or with none."""
        return replace(self, minhash=_keyed(self.minhash, key))

    def unlocked(self, key: HashKey | None, place: str) -> Settings:
        """Return the settings of a store with its key.

        Args:
            key: the key of the caller.
            place: the name of the store in messages.

        Raises:
            FormatMismatchError: the store has another key, or only one side has a key.
        """
        theirs = self.minhash.key
        if theirs == key:
            return self.with_key(key)
        if key is None:
            problem = f"{place} was made with a secret hash key; set {HASH_KEY} to it"
        elif theirs is None:
            problem = f"{place} was made without a hash key; unset {HASH_KEY}, or index into a new store"
        else:
            problem = f"{place} was made with another hash key than that in {HASH_KEY}; set it to the store's own"
        raise FormatMismatchError(problem, found=theirs, expected=key)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with the layout version. A key is represented by its check value."""
        values = {"version": self.layout, "analysis": self.analysis.to_dict(), "sketches": list(self.sketches)}
        values |= {"limits": self.limits.to_text()} if self.limits != Limits() else {}
        return values | ({"hash_key_check": self.minhash.key.check} if self.minhash.key else {})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """Return the settings that `to_dict` wrote; missing values have their defaults.

        Raises:
            FormatMismatchError: a newer version wrote them, or they are damaged.
        """
        version = check_version(values.get("version") if isinstance(values, dict) else None)
        try:
            analysis, sketches = Analysis.from_dict(values.get("analysis", {})), values.get("sketches", [])
            if version == 1:
                settings = _of_layout_1(analysis, values.get("minhash"), values.get("token_length", 4))
            elif isinstance(sketches, list) and all(isinstance(spec, str) for spec in sketches):
                settings = cls.of_parts(analysis, sketches, values.get("hash_key_check"), version)
            else:
                raise ValueError(f"sketches must be a list of strings, not {sketches!r:.200}")
            return replace(settings, limits=Limits.from_text(values["limits"])) if "limits" in values else settings
        except ValueError as error:
            raise FormatMismatchError(f"damaged settings ({error}); index again") from error

    @classmethod
    def of_parts(
        cls, analysis: Analysis, sketches: Iterable[str], key_check: str | None = None, layout: int = 2
    ) -> Settings:
        """Return the settings of an analysis and of stored sketches; without `bucketed` it has the defaults.

        In layout 3 the first sketch makes the tokens.

        Raises:
            ValueError: a sketch is malformed.
            FormatMismatchError: the version of a sketch is unknown, or the sketch of the tokens is.
        """
        specs: dict[str, str] = {}
        for sketch in sketches:
            name, colon, spec = sketch.partition(":")
            if not name or not colon or name in specs:
                raise ValueError(f"{sketch!r:.200} is not a sketch, or occurs twice")
            specs[name] = spec

        def has(name: str) -> bool:
            is_named = name in specs
            if is_named:
                parameters_of(name, specs.pop(name))
            return is_named

        main = next(iter(specs), MinHash.stored_name) if layout > 2 else MinHash.stored_name
        minhash, length = sketch_of_tokens(main, specs.pop(main, str(MinHash.version)))
        passages = concepts = None
        if "passages" in specs:
            window, _ = parameters_of("passages", specs.pop("passages"))
            passages = Passages(int(window))
        if "concepts" in specs:
            extractor, synonyms = parameters_of("concepts", specs.pop("concepts"))
            concepts = Concepts(extractor, "" if synonyms == NO_SYNONYMS else synonyms)
        key = None if key_check is None else HashKey.of_check(key_check)
        return cls(
            analysis,
            _keyed(minhash, key),
            length,
            passages,
            Sentences() if has("sentences") else None,
            concepts,
            has("language"),
            tuple(part for part, name in _LEFT_OUT.items() if has(name)),
            has("words"),
            tuple(f"{name}:{spec}" for name, spec in specs.items()),
        )


def check_version(version: object) -> int:
    """Return the layout version, if it can be read.

    Raises:
        FormatMismatchError: it is newer, or missing.
    """
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= LAYOUT_VERSION:
        raise unreadable(f"format version {version!s:.50}", f"up to {LAYOUT_VERSION}", version, LAYOUT_VERSION)
    return version


def _of_layout_1(analysis: Analysis, minhash: object, token_length: int) -> Settings:
    names = {"hash_count", "bucket_count", "hash_set_size", "with_rotation"}
    if not isinstance(minhash, dict) or set(minhash) != names:
        raise ValueError(f"MinHash has the settings {', '.join(sorted(names))}, not {minhash!r:.200}")
    return Settings(analysis, MinHash(**minhash), token_length, None, words=False)


def _keyed(sketch: Sketch, key: HashKey | None) -> Sketch:
    keyed: Sketch = replace(cast(Any, sketch), key=key)  # every sketch is a dataclass with a key
    return keyed
