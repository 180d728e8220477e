"""Makes texts in many scripts, and compares the fingerprints of the pipeline with those of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdoc_search.analysis.word_grammar import character_classes
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.sketch.settings import Settings
from tests.support.engines import call

_BATCH = 200
"""Number of texts per request."""

TRICKY = {
    "thai": "เด็กที่มีปัญหาทางการเรียนรู้ ๑๒๓ ภาษาไทยๆ กำ",
    "khmer": "ភាសាខ្មែរ មាន\u200bអក្សរ ៣៣ តួ",
    "burmese": "မြန်မာဘာသာ ၁၂၃ ္က",
    "hebrew": 'צה"ל ארה״ב ג\'ירפה ב\' "שלום" שָׁלוֹם אב"',
    "arabic": "السَّلامُ عليكم ﷺ ﷽ ﻻ ﷲ ٣٫١٤ كـــتاب",
    "emoji": "👩‍❤️‍👩 👨‍👩‍👧‍👦 🇩🇪🇫🇷🇩 1️⃣ #️⃣ *⃣ 👍🏽 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☺︎ ☺️ ©®™ 🏽 ‍👩 a‍👩",
    "hangul": "한국어 각각 가ᅡ ㅎㅏㄴ ﾡﾢ 한글자모 ㅤ ᅠ",
    "katakana": "カタカナ ｶﾞｷﾞ カ゛ ゙ガ カ_タ コンピューター・ゲーム ㌔ ㍿",
    "han": "漢字 𠀋𠮷 々〆 〇〻 豈 ⼀ 㐀",
    "hiragana": "ひらがな が ゟ ゝ",
    "full_width": "ＡＢＣ　ａｂｃ １２３．４ ﹣ ＿x＿",
    "ligatures": "ﬁnd ﬀ ﬃ ĳ Ǆ ǆ ŉ ẛ ß ẞ İ ı ſ K Å Ω ℡ ㏒ ⅷ ½",
    "combining": "e\u0301 E\u0301\u0323 a\u0328\u0301 \u0301a o\u0308\u0304 n\u0303\u0331 \u1e9b\u0323 ạ\u0302",
    "iota": "\u0345α\u0345 α\u0345\u0301",
    "greek": "ΟΔΟΣ Σίσυφος ΣΑΣ ᾳ ᾼ ᾈ ΐ ΰ",
    "turkic": "İSTANBUL ISPARTA ıİ i\u0307",
    "indic": ("क्षि हिन्दी क\u093c ক\u09c7\u09be ஸ்ரீ \u0b95\u0bcb കേരളം ശ്രീ ලංකා \u0dd9\u0dcf ଓଡ଼ିଆ ಕನ್ನಡ \u0cc6\u0cc2\u0cd5"),
    "tibetan": "བོད་སྐད ཀྵ \u0f71\u0f72 \u0f73",
    "vietnamese": "Tiếng Việt Tiê\u0301ng Viê\u0323t",
    "supplementary": "𐐀𐐨 𝒜𝓫𝔸 𝟘𝟙 𞤀𞤢 𒀀𒀁 𖹀 𑄧 𑄱\u0d27\U00011131\U00011127 \U0001d15e",
    "ignorable": (
        "soft\u00adhyphen zero\u200bwidth join\u200der non\u200cjoin word\u2060join "
        "\ufeffbom va\ufe0fri a\u034fb \u00ad \u00ada"
    ),
    "numbers": "1,000.50 3.14.15 1'000 1;2 1:2 1/2 2_000 1,a a,1 1.a a.1 0x1F 1e10 ٣,٤ 12. ,12",
    "mid": "can't o’clock l'été a.b a:b a·b e.g. 'a' a'' a..b foo@bar.com rock-n-roll U.S.A.",
    "underscores": "_ __ _a a_ a_b __a__b__ 1_2 _漢_ _カ_ア a__1 \u203f a\u203fb",
    "long": f"{'x' * 255} {'y' * 256} {'z' * 600} {'𐐀' * 130} {'é' * 300} {'12.' * 100} {'ﷺ' * 255} {'a_' * 200}",
    "long_marks": f"a{chr(0x301) * 400} ก{'็' * 300} {'👩‍' * 150} {'1,' * 200}a",
    "surrogates": "a \ud83d b\ud83dc \ude00 \ud800\ud800 d\ude00 \ud83d",
    "controls": "a\u0000b c\td\re\u000bf\u0085g\u2028h\u00a0i\u3000j\u200ek",
    "three": "One two THREE",
    "one": "Word",
    "empty": "",
    "blank": " \n\t ",
    "symbols": "... !!! ---",
    "no_fold": "\u115f \u1160 \u3164 \uffa0",
}
"""Texts with the difficult cases of many scripts."""


def mixtures(seed: object, count: int, *, longest: int = 60) -> list[str]:
    """Return random texts in which all classes of characters are equally frequent."""
    rng = random.Random(str(seed))
    table = character_classes().class_ids
    of_class = [np.flatnonzero(table == number).tolist() for number in range(1, len(character_classes().properties))]
    of_class.append([0x20, 0x0A, 0x21, 0x2D, 0x3000, 0x10FFFF, 0xE000])

    def run() -> str:
        chosen = rng.choice(of_class)
        return "".join(chr(rng.choice(chosen)) for _ in range(rng.choice([1, 1, 1, 2, 3])))

    return ["".join(run() for _ in range(rng.randint(1, longest))) for _ in range(count)]


def any_points(seed: object, count: int, length: int = 200) -> list[str]:
    """Return random texts of all letters, with lone surrogates."""
    rng = random.Random(str(seed))
    letters = np.flatnonzero(character_classes().class_ids).tolist()
    rare = [0x20, 0x20, 0x20, 0xD800, 0xDC00, 0x27, 0x2E, 0x5F, 0x301, 0x200D]
    return [
        "".join(chr(rng.choice(letters) if rng.random() < 0.7 else rng.choice(rare)) for _ in range(length))
        for _ in range(count)
    ]


def as_engine_reads(text: str) -> str:
    """Return a text after JSON encoding and decoding, which makes one character of a surrogate pair."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def run_pipeline(
    url: str,
    documents: Sequence[dict[str, Any]],
    settings: Settings | None = None,
    *,
    is_merged: bool = False,
    **options: Any,
) -> list[dict[str, Any]]:
    """Run the pipeline on documents, and return their sources.

    With `is_merged`, the documents have no id, like those that a bulk request merges into existing documents.
    """
    sources: list[dict[str, Any]] = []
    body = build_pipeline_body(settings, **options)
    if is_merged:
        body["processors"].insert(0, {"remove": {"field": "_id"}})
    for start in range(0, len(documents), _BATCH):
        docs = [{"_source": document} for document in documents[start : start + _BATCH]]
        answer = call(url, "POST", "/_ingest/pipeline/_simulate", {"pipeline": body, "docs": docs})
        sources += [result["doc"]["_source"] for result in answer["docs"]]
    return sources


def different(url: str, texts: Sequence[str], settings: Settings | None = None) -> list[tuple[str, Any, Any]]:
    """Return the texts whose fingerprints differ, with the fingerprints of the pipeline and of Python."""
    sources = run_pipeline(url, [{"body": text} for text in texts], settings)
    triples = [
        (text, source.get("simdoc"), expected(text, settings)) for text, source in zip(texts, sources, strict=True)
    ]
    return [(text, actual, wanted) for text, actual, wanted in triples if actual != wanted]


def expected(text: str, settings: Settings | None = None) -> dict[str, Any]:
    """Return the value of our field for a text."""
    return fingerprint_field(text, settings or Settings())


OLD, NEW = "the old text of a document", "and the new text which it has now"


def ours(url: str, index: str, id: str = "1") -> Any:
    """Return the value of our field in a document."""
    return call(url, "GET", f"/{index}/_doc/{id}")["_source"].get("simdoc")
