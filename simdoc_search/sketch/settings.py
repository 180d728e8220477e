"""Everything that decides which tokens a text gets. An index remembers it, and refuses others.

What is stored has a version of its layout, and each sketch (what is kept of a text, and how it is written) a version of
its own. So an index can get further sketches, and those who do not know them leave them alone:

    bucketed:1 512 1 false 4    bucket_count, hash_set_size, with_rotation, characters of a token
    passages:1 32 5             window, characters of a token; an index that does not name it has no passage tokens
    sentences:1                 simhashes of sentences; the same
    concepts:1 yake -           who finds the concepts, check value of its synonyms; the same
    language:1                  no tokens, but a metadata field: each document's language is identified
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.key import HASH_KEY, HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.tokens import TOKEN_LENGTHS, check_bucketed
from simdoc_search.sketch.winnow import PASSAGE_LENGTH, Passages

__all__ = ["BUCKETED_VERSION", "LAYOUT_VERSION", "PASSAGES_VERSION", "Settings", "check_version"]

LAYOUT_VERSION = 2
"""How settings are stored. In layout 1, a part had to be complete, and there was one sketch without a name."""

BUCKETED, BUCKETED_VERSION = "bucketed", 1
"""The version is raised by one whenever the same text and settings would give other tokens."""

PASSAGES, PASSAGES_VERSION = "passages", 1
"""Likewise."""

SENTENCES, SENTENCES_VERSION = "sentences", 1
"""Likewise."""

CONCEPTS, CONCEPTS_VERSION = "concepts", 1
"""Likewise."""

LANGUAGE, LANGUAGE_VERSION = "language", 1
"""Raised if another field has it. Another identifier makes no document a new one."""

_NO_SYNONYMS = "-"
_BUCKETED_DEFAULTS = ("512", "1", "false", "4")
_PASSAGES_DEFAULTS = ("32", str(PASSAGE_LENGTH))
_CONCEPTS_DEFAULTS = ("yake", _NO_SYNONYMS)
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: analysis, MinHash, the form of a token, and passage tokens.

    Attributes:
        analysis: text to shingles.
        minhash: shingles to bucket minima.
        token_length: characters of a token, 4 (24 bits) or 5 (30 bits).
        passages: how its passage tokens are made; None: it has none.
        sentences: that it has simhashes of sentences; None: it has none.
        concepts: who finds the concepts of its documents; None: it has none.
        language: whether the language of a document that does not say it is identified.
        others: sketches that the index has and this version does not know, as they are stored; they make no difference.

    Raises:
        ValueError: there are no bucketed tokens of these settings; see `Fingerprint.codes`.
    """

    analysis: Analysis = field(default_factory=Analysis)
    minhash: MinHash = field(default_factory=MinHash)
    token_length: int = 4
    passages: Passages | None = field(default_factory=Passages)
    sentences: Sentences | None = None
    concepts: Concepts | None = None
    language: bool = False
    others: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.token_length not in TOKEN_LENGTHS or isinstance(self.token_length, bool):
            raise ValueError(f"token_length must be 4 or 5, not {self.token_length!r}")
        if not isinstance(self.passages, Passages | None):
            raise ValueError(f"passages must be Passages or None, not {self.passages!r:.60}")
        if not isinstance(self.sentences, Sentences | None) or not isinstance(self.concepts, Concepts | None):
            raise ValueError(f"sentences and concepts must be such or None, not {self.sentences!r}, {self.concepts!r}")
        check_bucketed(self.minhash, self.token_length)

    @property
    def bucketed(self) -> str:
        """The sketch `bucketed` as it is stored."""
        rotation = str(self.minhash.with_rotation).lower()
        values = f"{self.minhash.bucket_count} {self.minhash.hash_set_size} {rotation} {self.token_length}"
        return f"{BUCKETED}:{BUCKETED_VERSION} {values}"

    @property
    def sketches(self) -> tuple[str, ...]:
        """All sketches as they are stored, those too that we do not know."""
        language = [f"{LANGUAGE}:{LANGUAGE_VERSION}"] if self.language else []
        return self.bucketed, *self.further, *language, *self.others

    @property
    def further(self) -> tuple[str, ...]:
        """The tokens that an index may have or not, and that we know, as they are stored."""
        found = []
        if self.passages is not None:
            found.append(f"{PASSAGES}:{PASSAGES_VERSION} {self.passages.window} {PASSAGE_LENGTH}")
        if self.sentences is not None:
            found.append(f"{SENTENCES}:{SENTENCES_VERSION}")
        if self.concepts is not None:
            synonyms = self.concepts.synonyms or _NO_SYNONYMS
            found.append(f"{CONCEPTS}:{CONCEPTS_VERSION} {self.concepts.extractor} {synonyms}")
        return tuple(found)

    def satisfies(self, asked: Settings) -> bool:
        """Whether an index of these settings is one that was asked for.

        One without passage tokens is, if they are asked for by default: it was made before there were any, or without
        them, and all but passages is found in it as ever. One with sentences, concepts or languages is, if none are
        asked for.
        """
        passages = None if self.passages is None and asked.passages == Passages() else asked.passages
        sentences, concepts = asked.sentences or self.sentences, asked.concepts or self.concepts
        language = asked.language or self.language
        return self == replace(asked, passages=passages, sentences=sentences, concepts=concepts, language=language)

    def with_key(self, key: HashKey | None) -> Settings:
        """The same settings with another key, or with none."""
        return replace(self, minhash=replace(self.minhash, key=key))

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
            problem = f"{place} was made without a hash key; unset {HASH_KEY}, or index into another store"
        else:
            problem = f"{place} was made with another hash key than that in {HASH_KEY}; set it to the store's own"
        raise FormatMismatchError(problem, found=theirs, expected=key)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, with the version of the layout; of a key its check value."""
        values = {"version": LAYOUT_VERSION, "analysis": asdict(self.analysis), "sketches": list(self.sketches)}
        return values | ({"hash_key_check": self.minhash.key.check} if self.minhash.key else {})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The settings that `to_dict` wrote; what is absent has its default.

        Raises:
            FormatMismatchError: they come from a newer version, or are damaged.
        """
        version = check_version(values.get("version") if isinstance(values, dict) else None)
        try:
            if version == 1:
                return _of_layout_1(values)
            return cls.of_parts(
                _analysis(values.get("analysis", {})), values.get("sketches", []), values.get("hash_key_check")
            )
        except ValueError as error:
            raise FormatMismatchError(f"damaged settings ({error}); index again") from error

    @classmethod
    def of_parts(cls, analysis: Analysis, sketches: Iterable[str], key_check: str | None = None) -> Settings:
        """The settings of an analysis and of sketches as they are stored; without `bucketed` it has the defaults.

        Raises:
            ValueError: a sketch is malformed.
            FormatMismatchError: `bucketed` or `passages` is of a version that we do not know.
        """
        known: dict[str, str] = {}
        for each in _texts(sketches):
            name, colon, spec = each.partition(":")
            if not name or not colon or name in known:
                raise ValueError(f"{each!r:.200} is no sketch, or is named twice")
            known[name] = spec
        minhash, length = _bucketed(known.pop(BUCKETED, str(BUCKETED_VERSION)))
        passages = _passages(known.pop(PASSAGES)) if PASSAGES in known else None
        sentences = Sentences() if _is_named(SENTENCES, known.pop(SENTENCES, None), SENTENCES_VERSION) else None
        concepts = _concepts(known.pop(CONCEPTS)) if CONCEPTS in known else None
        language = _is_named(LANGUAGE, known.pop(LANGUAGE, None), LANGUAGE_VERSION)
        key = None if key_check is None else HashKey.of_check(key_check)
        others = tuple(f"{name}:{spec}" for name, spec in known.items())
        return cls(analysis, replace(minhash, key=key), length, passages, sentences, concepts, language, others)


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
    return Settings(_analysis(values.get("analysis", {})), MinHash(**minhash), values.get("token_length", 4), None)


def _analysis(values: object) -> Analysis:
    """The analysis; a setting that we do not know may change every shingle, and is refused."""
    names = {each.name for each in fields(Analysis)}
    if not isinstance(values, dict) or not set(values) <= names:
        raise ValueError(f"Analysis has the settings {', '.join(sorted(names))}, not {values!r:.200}")
    return Analysis(**values)


def _texts(values: object) -> list[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(each, str) for each in values):
        raise ValueError(f"sketches are a list of texts, not {values!r:.200}")
    return list(values)


def _bucketed(spec: str) -> tuple[MinHash, int]:
    """What `1 512 1 false 4` says; a value that we do not know may change every token, and is refused."""
    values = _values(BUCKETED, spec, BUCKETED_VERSION, _BUCKETED_DEFAULTS)
    if values is None or values[2] not in _BOOLEANS:
        raise ValueError(f"{f'{BUCKETED}:{spec}'!r:.200} is not like {Settings().bucketed!r}")
    buckets, kept, rotation, length = values
    minhash = MinHash(bucket_count=int(buckets), hash_set_size=int(kept), with_rotation=_BOOLEANS[rotation])
    return minhash, int(length)


def _passages(spec: str) -> Passages:
    """What `1 32 5` says; the same."""
    values = _values(PASSAGES, spec, PASSAGES_VERSION, _PASSAGES_DEFAULTS)
    if values is None or values[1] != str(PASSAGE_LENGTH):
        raise ValueError(f"{f'{PASSAGES}:{spec}'!r:.200} is not like {Settings().further[0]!r}")
    return Passages(int(values[0]))


def _is_named(name: str, spec: str | None, version: int) -> bool:
    """Whether a sketch without values is there: what `1` says; the same."""
    if spec is not None and _values(name, spec, version, ()) is None:
        raise ValueError(f"{f'{name}:{spec}'!r:.200} is not like '{name}:{version}'")
    return spec is not None


def _concepts(spec: str) -> Concepts:
    """What `1 yake -` says; the same."""
    values = _values(CONCEPTS, spec, CONCEPTS_VERSION, _CONCEPTS_DEFAULTS)
    if values is None:
        raise ValueError(f"{f'{CONCEPTS}:{spec}'!r:.200} is not like '{CONCEPTS}:{CONCEPTS_VERSION} yake -'")
    return Concepts(values[0], "" if values[1] == _NO_SYNONYMS else values[1])


def _values(name: str, spec: str, expected: int, defaults: tuple[str, ...]) -> tuple[str, ...] | None:
    """The values of a sketch after its version, missing ones by default; None if it is malformed.

    Raises:
        FormatMismatchError: it is of another version.
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
