"""The settings that decide which tokens a text gets. An index stores them, and refuses queries made with others.

The stored settings have a layout version, and each sketch has a version of its own. An index can therefore get
further sketches, and versions of this package that do not know them ignore them:

    bucketed:1 512 1 false 4    bucket_count, hash_set_size, with_rotation, characters of a token; or one of
                                `sketch.schemes` in its place
    passages:1 32 5             window, characters of a token; without it there are no passage tokens
    sentences:2                 simhashes of sentences
    concepts:1 yake -           extractor of concepts, check value of its synonyms
    words:1                     no tokens: an index of the words of the texts, in local stores only
    language:1                  no tokens: the language of each document is identified as metadata
    no_front_matter:1           no tokens: front matter is not part of the text; likewise no_quotes:1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.estimate import Estimate
from simdoc_search.sketch.key import HASH_KEY, HashKey
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.specs import (
    CONCEPTS,
    CONCEPTS_VERSION,
    LANGUAGE,
    LANGUAGE_VERSION,
    LEFT_OUT,
    NO_SYNONYMS,
    PASSAGES,
    PASSAGES_VERSION,
    SENTENCES,
    SENTENCES_VERSION,
    WORDS,
    WORDS_VERSION,
    concepts_of,
    is_named,
    passages_of,
    tokens_of,
    written,
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


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: analysis, sketch and form of the tokens, and optional token kinds.

    Attributes:
        analysis: settings from text to shingles.
        minhash: settings from shingles to minima, or one of `sketch.schemes`.
        token_length: characters of a token, 4 (24 bits) or 5 (30 bits).
        passages: settings of passage tokens; None for none.
        sentences: settings of sentence simhashes; None for none.
        concepts: extractor of concepts; None for none.
        language: whether to identify the language of documents that do not state it.
        left_out: parts of files that are not text: `front-matter`, `quoted-replies`.
        words: whether a local store indexes the words of its texts, to find short quotations; needs stored texts and
            passage tokens. Ignored by comparisons of settings.
        limits: default limits of versions and related documents; `stores.upgrade` changes them at any time. Ignored by
            comparisons of settings.
        others: stored sketches that this version does not know. Ignored by comparisons of settings.

    Raises:
        ValueError: these settings have no bucketed tokens; see `Fingerprint.codes`.
    """

    analysis: Analysis = field(default_factory=Analysis)
    minhash: Sketch = field(default_factory=MinHash)
    token_length: int = 4
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
        if not isinstance(self.passages, Passages | None):
            raise ValueError(f"passages must be Passages or None, not {self.passages!r:.60}")
        if not isinstance(self.sentences, Sentences | None) or not isinstance(self.concepts, Concepts | None):
            raise ValueError(f"sentences and concepts must be such or None, not {self.sentences!r}, {self.concepts!r}")
        if list(self.left_out) != [part for part in LEFT_OUT if part in self.left_out]:
            raise ValueError(f"left_out is of {', '.join(LEFT_OUT)} in this order, not {self.left_out!r:.60}")
        self.minhash.check_tokens()

    @property
    def layout(self) -> int:
        """The version of the layout in which these settings are stored."""
        return 2 if self.minhash.stored_name == MinHash.STORED_NAME and self.analysis.is_plain else LAYOUT_VERSION

    @property
    def of_tokens(self) -> str:
        """The sketch of the tokens, as stored."""
        return written(self.minhash, self.token_length)

    @property
    def estimate(self) -> Estimate:
        """The function that compares the tokens of two documents."""
        return partial(self.minhash.shared_and_union, length=self.token_length)

    def codes_and_terms(self, made: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """Return the codes that compare a text, and the terms to query; no terms where they are the encoded codes."""
        return made.codes(self.token_length), ()

    @property
    def sketches(self) -> tuple[str, ...]:
        """All sketches as stored, unknown ones included."""
        language = [f"{LANGUAGE}:{LANGUAGE_VERSION}"] if self.language else []
        left_out = [f"{LEFT_OUT[part]}:1" for part in self.left_out]
        words = [f"{WORDS}:{WORDS_VERSION}"] if self.words else []
        return self.of_tokens, *self.further, *words, *language, *left_out, *self.others

    @property
    def further(self) -> tuple[str, ...]:
        """The known optional token kinds, as stored."""
        found = []
        if self.passages is not None:
            found.append(f"{PASSAGES}:{PASSAGES_VERSION} {self.passages.window} {PASSAGE_LENGTH}")
        if self.sentences is not None:
            found.append(f"{SENTENCES}:{SENTENCES_VERSION}")
        if self.concepts is not None:
            synonyms = self.concepts.synonyms or NO_SYNONYMS
            found.append(f"{CONCEPTS}:{CONCEPTS_VERSION} {self.concepts.extractor} {synonyms}")
        return tuple(found)

    def banded(self, count: int, overlap: Fraction) -> int:
        """Return how many of a document's first tokens may be cut into bands; see `Sketch.banded`."""
        return self.minhash.banded(count, overlap)

    def satisfies(self, asked: Settings) -> bool:
        """Whether an index with these settings can serve the requested ones.

        An index without passage tokens can, if they were requested by default: everything but passages works. An index
        with sentences, concepts or languages can, if none were requested.
        """
        passages = None if self.passages is None and asked.passages == Passages() else asked.passages
        sentences, concepts = asked.sentences or self.sentences, asked.concepts or self.concepts
        language, left_out = asked.language or self.language, asked.left_out or self.left_out
        more: dict[str, Any] = {"language": language, "left_out": left_out}
        return self == replace(asked, passages=passages, sentences=sentences, concepts=concepts, **more)

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
            limits = Limits.from_text(values["limits"]) if "limits" in values else Limits()
            if version == 1:
                return replace(_of_layout_1(values), limits=limits)
            analysis, sketches = Analysis.from_dict(values.get("analysis", {})), values.get("sketches", [])
            return replace(cls.of_parts(analysis, sketches, values.get("hash_key_check"), version), limits=limits)
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
        known: dict[str, str] = {}
        for each in _texts(sketches):
            name, colon, spec = each.partition(":")
            if not name or not colon or name in known:
                raise ValueError(f"{each!r:.200} is no sketch, or is named twice")
            known[name] = spec
        main = next(iter(known), MinHash.STORED_NAME) if layout > 2 else MinHash.STORED_NAME
        minhash, length = tokens_of(main, known.pop(main, str(MinHash.version)))
        passages = passages_of(known.pop(PASSAGES)) if PASSAGES in known else None
        sentences = Sentences() if is_named(SENTENCES, known.pop(SENTENCES, None), SENTENCES_VERSION) else None
        concepts = concepts_of(known.pop(CONCEPTS)) if CONCEPTS in known else None
        words = is_named(WORDS, known.pop(WORDS, None), WORDS_VERSION)
        language = is_named(LANGUAGE, known.pop(LANGUAGE, None), LANGUAGE_VERSION)
        left_out = tuple(part for part, name in LEFT_OUT.items() if is_named(name, known.pop(name, None), 1))
        key = None if key_check is None else HashKey.of_check(key_check)
        others = tuple(f"{name}:{spec}" for name, spec in known.items())
        more = language, left_out, words, others
        return cls(analysis, _keyed(minhash, key), length, passages, sentences, concepts, *more)


def check_version(version: object) -> int:
    """Return the layout version, if it can be read.

    Raises:
        FormatMismatchError: it is newer, or missing.
    """
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= LAYOUT_VERSION:
        raise FormatMismatchError(
            f"format version {version!s:.50}, and this simdoc-search reads up to {LAYOUT_VERSION}; "
            "use the version that made it, or index again",
            found=version,
            expected=LAYOUT_VERSION,
        )
    return version


def _of_layout_1(values: Mapping[str, Any]) -> Settings:
    minhash = values.get("minhash")
    names = {"hash_count", "bucket_count", "hash_set_size", "with_rotation"}
    if not isinstance(minhash, dict) or set(minhash) != names:
        raise ValueError(f"MinHash has the settings {', '.join(sorted(names))}, not {minhash!r:.200}")
    return Settings(
        Analysis.from_dict(values.get("analysis", {})),
        MinHash(**minhash),
        values.get("token_length", 4),
        None,
        words=False,
    )


def _keyed(sketch: Sketch, key: HashKey | None) -> Sketch:
    keyed: Sketch = replace(cast(Any, sketch), key=key)  # each of them is a dataclass that has one
    return keyed


def _texts(values: object) -> list[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(each, str) for each in values):
        raise ValueError(f"sketches are a list of texts, not {values!r:.200}")
    return list(values)
