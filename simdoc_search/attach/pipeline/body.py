"""Builds the body of the ingest pipeline. It has one script, with settings and tables as parameters.

Another script lets an update by query skip the documents that the pipeline would not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.attach.pipeline.tables import build_fold_tables, build_word_tables
from simdoc_search.display import printable
from simdoc_search.errors import StoreError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TokenKindName, token_kind_names
from simdoc_search.sketch.tokens import ALPHABET, HASH_BITS
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, MARK_FIELDS, format_label
from simdoc_search.stores.remote.texts import text_field_names

MAX_TEXT_LENGTH = 1 << 20
"""Maximum length of a text, in UTF-16 code units. The engine needs about 40 bytes of memory per unit, and 0.1 s for
the longest text."""

UNSUPPORTED_KINDS: tuple[TokenKindName, ...] = ("sentences", "concepts")
"""The kinds of tokens that a pipeline does not compute. If an index has them, `backfill` adds them."""

_SCRIPT_NAMES = ("words", "shingles", "blake2b", "document", "fingerprint", "main")
_SKIP_SCRIPT_NAMES = (*_SCRIPT_NAMES[:-1], "skip")
_CLEAR_SCRIPT = (
    "for (String key : new ArrayList(ctx.keySet())) "
    "{ if (key.equals(params.into) || key.startsWith(params.into + '.')) { ctx.remove(key); } }"
)
"""Removes the fingerprint field, including dotted keys such as `simdoc.tokens`."""

_SHORTEN_SCRIPT = (
    "String reason = ctx[params.into].error; int end = 500; if (reason.length() > end) "
    "{ char last = reason.charAt(end - 1); if (last >= 0xD800 && last < 0xDC00) { end -= 1; } "
    "ctx[params.into].error = reason.substring(0, end); }"
)
"""Shortens the reason for an error, because engines reject a document with a keyword of more than 32,766 bytes."""


def build_pipeline_body(
    settings: Settings | None = None, text_field: str | Sequence[str] = "body", field: str = DEFAULT_FIELD
) -> dict[str, Any]:
    """Return the body for `PUT _ingest/pipeline/simdoc`.

    Args:
        settings: the settings of the fingerprints, as in the mapping of the index; None selects the default settings.
        text_field: the path of the text field, such as `page.body`. The values of several fields are joined by line
            breaks into one text.
        field: the top-level object field to write.

    Raises:
        StoreError: a pipeline does not support these settings, or cannot write to this field.
    """
    settings = settings or Settings()
    _check_supported(settings, field)
    failed = "the pipeline failed: {{ _ingest.on_failure_message }}"
    return {
        "description": "Computes the fingerprint of each document when it is written, for FINGERPRINT queries",
        "processors": [
            {
                "script": {
                    "lang": "painless",
                    "source": join_scripts(*_SCRIPT_NAMES),
                    "params": _build_parameters(settings, text_field_names(text_field), field),
                    # The script does not catch all errors. Without these processors, the write would fail.
                    "on_failure": [
                        {"script": {"source": _CLEAR_SCRIPT, "params": {"into": field}, "ignore_failure": True}},
                        {"set": {"field": f"{field}.error", "value": failed, "ignore_failure": True}},
                        {"script": {"source": _SHORTEN_SCRIPT, "params": {"into": field}, "ignore_failure": True}},
                    ],
                }
            }
        ],
    }


def build_skip_script(
    settings: Settings, text_field: str | Sequence[str], field: str, *, compares: bool
) -> dict[str, Any]:
    """Return a script for an update by query. It skips documents that have neither a text nor the fingerprint field.

    With `compares`, it also skips documents whose fingerprint already is the one that the pipeline computes.
    """
    parameters = _build_parameters(settings, text_field_names(text_field), field)
    return {
        "lang": "painless",
        "source": join_scripts(*_SKIP_SCRIPT_NAMES),
        "params": {**parameters, "compares": compares},
    }


def _check_supported(settings: Settings, field: str) -> None:
    analysis = settings.analysis
    unsupported: dict[str, bool] = {
        "a secret hash key": settings.sketch.key is not None,
        f"the sketch {settings.stored_sketch}": not isinstance(settings.sketch, MinHash)
        or settings.sketch.with_rotation,
        "stop words": analysis.stop_words is not None,
        "stemming": bool(analysis.stem),
        "frequencies": analysis.frequencies,
        **{kind: getattr(settings, kind) is not None for kind in UNSUPPORTED_KINDS},
        "language identification": settings.identifies_language,
    }
    for name, is_set in unsupported.items():
        if is_set:
            raise StoreError(
                f"an ingest pipeline does not support {name}; use `simdoc-search backfill` without --in-engine"
            )
    if not field or "." in field or field.startswith("_"):
        advice = f"choose a name without dots and without a leading underscore, such as {DEFAULT_FIELD}"
        raise StoreError(f"a pipeline cannot write to the field '{printable(field)}'; {advice}")


def _build_parameters(settings: Settings, text_fields: list[str], field: str) -> dict[str, Any]:
    analysis, minhash = settings.analysis, settings.sketch
    automaton = word_automaton()
    numbers = {
        "symbols": len(automaton.transitions[0]),
        "accepting": automaton.first_accepting_state,
        "longest": MAX_WORD_UNITS,
    }
    return {
        "fields": text_fields,
        "into": field,
        "marks": list(MARK_FIELDS),
        "emptied": ["tokens", *token_kind_names(settings), "words_hash"],
        "format": format_label(settings),
        "shingle_size": analysis.shingle_size,
        "short_texts": analysis.short_texts,
        "characters": analysis.unit == "character",
        "buckets": minhash.slot_count,
        "bucket_bits": minhash.slot_count.bit_length() - 1,
        "hash_bits": HASH_BITS,
        "window": settings.passages.window if settings.passages else 0,
        "longest_text": MAX_TEXT_LENGTH,
        "alphabet": ALPHABET,
        "tables": {**numbers, **build_word_tables(), **build_fold_tables(analysis.profile)},
    }


def join_scripts(*names: str) -> str:
    """Join scripts, and remove comments and indentation, because engines accept at most 65,535 bytes."""
    folder = resources.files(__package__).joinpath("painless")
    lines = [line for name in names for line in folder.joinpath(f"{name}.painless").read_text("utf-8").splitlines()]
    return "\n".join(filter(None, (re.sub(r"//.*", "", line).strip() for line in lines)))
