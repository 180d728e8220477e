"""Everything that decides which tokens a text gets. An index remembers it, and refuses others.

What is stored has a version of its layout, and each sketch (what is kept of a text, and how it is written) a version of
its own. So an index can get further sketches, and those who do not know them leave them alone:

    bucketed:1 512 1 false 4    bucket_count, hash_set_size, with_rotation, characters of a token; or one of the others
                                in its place (`sketch.schemes`)
    passages:1 32 5             window, characters of a token; an index that does not name it has no passage tokens
    sentences:2                 simhashes of sentences; the same
    concepts:1 yake -           who finds the concepts, check value of its synonyms; the same
    words:1                     no tokens, but an index of the words of the texts; only local stores have it
    language:1                  no tokens, but a metadata field: each document's language is identified
    no_front_matter:1           no tokens, but what of files is no part of their texts; no_quotes:1
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
"""How settings are stored. In layout 1, a part had to be complete, and there was one sketch without a name; in layout
2, tokens are always `bucketed`, and shingles runs of all words. What layout 2 can say is still written in it, so that
older versions read it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: analysis, the sketch of the tokens, their form, and passage tokens.

    Attributes:
        analysis: text to shingles.
        minhash: shingles to bucket minima; or one of `sketch.schemes` in its place.
        token_length: characters of a token, 4 (24 bits) or 5 (30 bits).
        passages: how its passage tokens are made; None: it has none.
        sentences: that it has simhashes of sentences; None: it has none.
        concepts: who finds the concepts of its documents; None: it has none.
        language: whether the language of a document that does not say it is identified.
        left_out: what of files is no part of their texts: `front-matter`, `quoted-replies`.
        words: whether a local store indexes the words of its texts, to find short quotations. Where there are no
            texts or no passage tokens it does not. It makes no difference to whether settings are equal.
        limits: what makes sentences alike, documents versions, and hits worth showing, where a question does not say
            it. They make no difference to whether settings are equal: `stores.limits` changes them at any time.
        others: sketches that the index has and this version does not know, as they are stored; they make no difference.

    Raises:
        ValueError: there are no bucketed tokens of these settings; see `Fingerprint.codes`.
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
        """The version of the layout in which they are stored."""
        return 2 if self.minhash.stored_name == MinHash.STORED_NAME and self.analysis.is_plain else LAYOUT_VERSION

    @property
    def of_tokens(self) -> str:
        """The sketch that makes the tokens, as it is stored."""
        return written(self.minhash, self.token_length)

    @property
    def estimate(self) -> Estimate:
        """How the tokens of two documents are compared."""
        return partial(self.minhash.shared_and_union, length=self.token_length)

    def codes_and_terms(self, made: Fingerprint) -> tuple[NDArray[Any], Sequence[str]]:
        """What a text is compared by, and the terms to ask for; none where these are the codes, encoded."""
        return made.codes(self.token_length), ()

    @property
    def sketches(self) -> tuple[str, ...]:
        """All sketches as they are stored, those too that we do not know."""
        language = [f"{LANGUAGE}:{LANGUAGE_VERSION}"] if self.language else []
        left_out = [f"{LEFT_OUT[part]}:1" for part in self.left_out]
        words = [f"{WORDS}:{WORDS_VERSION}"] if self.words else []
        return self.of_tokens, *self.further, *words, *language, *left_out, *self.others

    @property
    def further(self) -> tuple[str, ...]:
        """The tokens that an index may have or not, and that we know, as they are stored."""
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
        """Of how many of its first tokens a document that has so many may cut bands; see `Sketch.banded`."""
        return self.minhash.banded(count, overlap)

    def satisfies(self, asked: Settings) -> bool:
        """Whether an index of these settings is one that was asked for.

        One without passage tokens is, if they are asked for by default: it was made before there were any, or without
        them, and all but passages is found in it as ever. One with sentences, concepts or languages is, if none are
        asked for.
        """
        passages = None if self.passages is None and asked.passages == Passages() else asked.passages
        sentences, concepts = asked.sentences or self.sentences, asked.concepts or self.concepts
        language, left_out = asked.language or self.language, asked.left_out or self.left_out
        more: dict[str, Any] = {"language": language, "left_out": left_out}
        return self == replace(asked, passages=passages, sentences=sentences, concepts=concepts, **more)

    def for_local(self, store_texts: bool) -> Settings:
        """The same settings as a new local store has them: words are indexed only beside texts and passage tokens."""
        return replace(self, words=self.words and store_texts and self.passages is not None)

    def with_key(self, key: HashKey | None) -> Settings:
        """The same settings with another key, or with none."""
        return replace(self, minhash=_keyed(self.minhash, key))

    def unlocked(self, key: HashKey | None, place: str) -> Settings:
        """The settings of a store, with its key.

        Args:
            key: the key that we have.
            place: what a person calls the store.

        Raises:
            FormatMismatchError: it has another key than ours, has one and we have none, or the other way round.
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
        """As plain values for JSON, with the version of the layout; of a key its check value."""
        values = {"version": self.layout, "analysis": self.analysis.to_dict(), "sketches": list(self.sketches)}
        values |= {"limits": self.limits.to_text()} if self.limits != Limits() else {}
        return values | ({"hash_key_check": self.minhash.key.check} if self.minhash.key else {})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The settings that `to_dict` wrote; what is absent has its default.

        Raises:
            FormatMismatchError: they come from a newer version, or are damaged.
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
        """The settings of an analysis and of sketches as they are stored; without `bucketed` it has the defaults.

        In layout 3 the first sketch is the one that makes the tokens.

        Raises:
            ValueError: a sketch is malformed.
            FormatMismatchError: a sketch is of a version that we do not know, or that of the tokens is none of ours.
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
    """The version of a layout that can be read.

    Raises:
        FormatMismatchError: it is a newer one, or none.
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
