"""Computes the hashes of the sentences and concepts of texts, for all stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from simdoc_search.analysis.settings import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.concepts import Extractor, extractor_from_settings
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.languages import require_language_model
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import encode_simhashes, sentence_simhashes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKindName
from simdoc_search.sketch.tokens import TokenIds, empty_token_ids
from simdoc_search.stores.record import Record


@dataclass(frozen=True, slots=True)
class SentencesAndConcepts:
    """Hashes of the sentences and concepts of a text. They are empty if the index has none, or after an error."""

    sentences: TokenIds = field(default_factory=empty_token_ids)
    concepts: TokenIds = field(default_factory=empty_token_ids)


def choose_extractor(settings: Settings, extractor: Extractor | None) -> Extractor | None:
    """Return the given extractor. If it is None, return the built-in extractor named in the settings, if any.

    Raises:
        FormatMismatchError: the recorded extractor is not built in.
        MissingExtraError: the extractor is not installed.
    """
    return extractor if extractor or settings.concepts is None else extractor_from_settings(settings.concepts)


def check_can_index(settings: Settings, extractor: Extractor | None, index_name: str) -> None:
    """Check that this installation can compute all tokens and metadata that the index has.

    Raises:
        MissingExtraError: the package for sentences or languages is not installed.
        FormatMismatchError: the extractor is missing, or it is not the extractor of the index.
    """
    if settings.sentences is not None and find_spec("sentencex") is None:
        raise MissingExtraError("splitting texts into sentences", "versions")
    if settings.identifies_language:
        require_language_model()
    if settings.excluded_parts:
        from simdoc_search.corpus.text_filters import require_front_matter_parser  # noqa: PLC0415 - rarely needed

        require_front_matter_parser(settings.excluded_parts)
    if extractor is None and settings.concepts is not None:
        raise FormatMismatchError(
            f"the concepts of {index_name} were extracted by {_display_name(settings.concepts)}; pass this extractor"
        )
    if extractor is not None and extractor.settings != settings.concepts:
        concepts = "no concepts" if settings.concepts is None else f"concepts from {_display_name(settings.concepts)}"
        raise FormatMismatchError(
            f"{index_name} has {concepts}, but the given extractor is {_display_name(extractor.settings)}; omit the "
            "extractor",
            found=settings.concepts,
            expected=extractor.settings,
        )


def compute_sentences_and_concepts(
    texts: Sequence[str], settings: Settings, extractor: Extractor | None
) -> list[SentencesAndConcepts]:
    """Compute the hashes of the sentences and concepts of texts, if the index has them; see `check_can_index`.

    If the computation fails for a text, its hashes are empty. Other texts are not affected.
    """
    if settings.sentences is None and settings.concepts is None:
        return [SentencesAndConcepts()] * len(texts)
    token_ids = extractor.token_ids(texts) if extractor and settings.concepts else [None] * len(texts)
    return [
        SentencesAndConcepts(
            _compute_sentence_tokens(text, settings), empty_token_ids() if concepts is None else concepts
        )
        for text, concepts in zip(texts, token_ids, strict=True)
    ]


def find_missing_kinds(settings: Settings, tokens: SentencesAndConcepts | Record) -> list[TokenKindName]:
    """Return `sentences`, `concepts` or both, if the index has these tokens but they could not be computed.

    A text with words has at least one token of each kind. So if a kind has no tokens, its computation failed.
    """
    return [
        name
        for name in TOKEN_KINDS
        if name != "passages" and getattr(settings, name) is not None and not len(getattr(tokens, name))
    ]


def compute_sentence_simhashes(text: str, analysis: Analysis) -> Simhashes:
    """Compute the simhashes of the sentences of a text, in order.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    values, _ = sentence_simhashes([text[start:end] for start, end in sentence_spans(text)], analysis)
    return values


def _compute_sentence_tokens(text: str, settings: Settings) -> TokenIds:
    if settings.sentences is None:
        return empty_token_ids()
    try:
        return encode_simhashes(compute_sentence_simhashes(text, settings.analysis))
    except Exception:  # an error in a third-party package must not stop the other texts
        return empty_token_ids()


def _display_name(settings: ConceptSettings) -> str:
    return (
        f"{settings.extractor} with synonyms {settings.synonyms_checksum}"
        if settings.synonyms_checksum
        else settings.extractor
    )
