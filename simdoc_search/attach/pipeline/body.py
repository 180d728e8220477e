"""Builds the body of the ingest pipeline: one script, with the settings and tables as parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.attach.pipeline.tables import fold_tables, word_tables
from simdoc_search.display import printable
from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import ALPHABET
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, MARK_FIELDS, format_label
from simdoc_search.stores.remote.texts import text_field_names

LONGEST_TEXT = 1 << 20
"""Maximum length of a text, in UTF-16 code units. The engine needs about 40 bytes of memory per unit, and 0.1 s for
the longest text."""

_SCRIPTS = ("words", "shingles", "blake2b", "document", "fingerprint", "main")
_CLEAR = (
    "for (String key : new ArrayList(ctx.keySet())) "
    "{ if (key.equals(params.into) || key.startsWith(params.into + '.')) { ctx.remove(key); } }"
)
"""Removes the fingerprint field, even if its keys are written with dots."""

_SHORTEN = (
    "String reason = ctx[params.into].error; int end = 500; if (reason.length() > end) "
    "{ char last = reason.charAt(end - 1); if (last >= 0xD800 && last < 0xDC00) { end -= 1; } "
    "ctx[params.into].error = reason.substring(0, end); }"
)
"""Shortens the reason of an error. Engines refuse a document with a keyword of more than 32,766 bytes."""


def pipeline_body(
    settings: Settings | None = None, text_field: str | Sequence[str] = "body", field: str = DEFAULT_FIELD
) -> dict[str, Any]:
    """Return the body for `PUT _ingest/pipeline/simdoc`.

    Args:
        settings: the settings of the fingerprints, as in the mapping of the index; None for the default ones.
        text_field: the path of the text field, such as `page.body`. Several fields make one text, one line per field.
        field: the top-level object field to fill.

    Raises:
        StoreError: an engine cannot make fingerprints with these settings, or fill such a field.
    """
    settings = settings or Settings()
    _check_supported(settings, field)
    failed = "the pipeline failed: {{ _ingest.on_failure_message }}"
    return {
        "description": "Makes the fingerprint of each document at each write, for FINGERPRINT queries",
        "processors": [
            {
                "script": {
                    "lang": "painless",
                    "source": join_scripts(*_SCRIPTS),
                    "params": _parameters(settings, text_field_names(text_field), field),
                    # A script cannot catch all errors. The write must not fail because of the others either.
                    "on_failure": [
                        {"script": {"source": _CLEAR, "params": {"into": field}, "ignore_failure": True}},
                        {"set": {"field": f"{field}.error", "value": failed, "ignore_failure": True}},
                        {"script": {"source": _SHORTEN, "params": {"into": field}, "ignore_failure": True}},
                    ],
                }
            }
        ],
    }


def _check_supported(settings: Settings, field: str) -> None:
    analysis = settings.analysis
    unsupported = {
        "a secret hash key": settings.minhash.key is not None,
        f"the sketch {settings.stored_sketch}": not isinstance(settings.minhash, MinHash)
        or settings.minhash.with_rotation,
        "stop words": analysis.stop_words is not None,
        "stems": bool(analysis.stem),
        "frequencies": analysis.frequencies,
        "sentences": settings.sentences is not None,
        "concepts": settings.concepts is not None,
        "languages": settings.language,
    }
    for name, is_set in unsupported.items():
        if is_set:
            raise StoreError(f"an ingest pipeline cannot make fingerprints with {name}; use simdoc-search backfill")
    if not field or "." in field or field.startswith("_"):
        how = f"name a top-level field, such as {DEFAULT_FIELD}"
        raise StoreError(f"a pipeline cannot fill the field '{printable(field)}'; {how}")


def _parameters(settings: Settings, text_fields: list[str], field: str) -> dict[str, Any]:
    analysis, minhash = settings.analysis, settings.minhash
    automaton = word_automaton()
    numbers = {"symbols": len(automaton.next[0]), "accepting": automaton.accepting, "longest": MAX_WORD_UNITS}
    return {
        "fields": text_fields,
        "into": field,
        "marks": list(MARK_FIELDS),
        "emptied": ["tokens", *names_of_kinds(settings), "words_hash"],
        "format": format_label(settings),
        "shingle_size": analysis.shingle_size,
        "short_texts": analysis.short_texts,
        "characters": analysis.unit == "character",
        "buckets": minhash.slot_count,
        "bucket_bits": minhash.slot_count.bit_length() - 1,
        "token_length": settings.token_length,
        "window": settings.passages.window if settings.passages else 0,
        "longest_text": LONGEST_TEXT,
        "alphabet": ALPHABET,
        "tables": {**numbers, **word_tables(), **fold_tables(analysis.profile)},
    }


def join_scripts(*names: str) -> str:
    """Join scripts without comments and indentation. Engines accept at most 65,535 bytes."""
    folder = resources.files(__package__).joinpath("painless")
    lines = [line for name in names for line in folder.joinpath(f"{name}.painless").read_text("utf-8").splitlines()]
    return "\n".join(filter(None, (re.sub(r"//.*", "", line).strip() for line in lines)))
