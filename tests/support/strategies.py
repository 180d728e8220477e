"""Random texts for hypothesis, with all kinds of characters that the word grammar distinguishes."""

from __future__ import annotations

from hypothesis import strategies as st

from simdoc_search import Analysis

_ASCII_PIECES = [
    *"aBz09 \n\t_.,:;'\"-/@()",
    "can't",
    "3.14",
    "1,000",
    "e.g.",
    "foo_bar",
    "k:a",
    "__",
    "The quick brown fox ",
    "woof " * 4,
    "x" * 254,
    "y" * 256,
    "12." * 90,
]
_OTHER_PIECES = [
    *"éßİΣςﬁ２Ｋﷺ",  # changed by nfkc_cf
    "ΟΔΟΣ ",
    "Straße ",
    *"אב״׳שׁ",  # Hebrew letters and their quotation marks
    *"कि้ก๑ะຂမ္",  # marks; Thai, Lao, Burmese
    *"漢字々ひらカター゛",  # single characters or runs are words
    "한국어 ",
    *"\u0301\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\u20e3\u2028\u3000",  # marks, joiners, spaces
    *"©™☺❤👍👩🏽🇩🇪#*",  # emoji and their modifiers
    "👩\u200d❤\ufe0f\u200d👩 ",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    *"𐐀𐐨𝒜𠀋\U0001e900",  # letters beyond the BMP, with and without case
    "𐐀" * 130,
    *"\ud800\udc00\ud83d",  # surrogates; two neighbours can make a pair
]

_ascii_letters = st.text("abcXYZ 019.'_", max_size=12)
_any_letters = st.text(max_size=12)  # all of Unicode except surrogates


def ascii_texts() -> st.SearchStrategy[str]:
    """Return texts of ASCII characters."""
    return st.lists(st.sampled_from(_ASCII_PIECES) | _ascii_letters, max_size=12).map("".join)


def texts() -> st.SearchStrategy[str]:
    """Return texts of any characters, including lone surrogates."""
    piece = st.sampled_from(_ASCII_PIECES) | st.sampled_from(_OTHER_PIECES) | _ascii_letters | _any_letters
    return st.lists(piece, max_size=16).map("".join)


def corpora() -> st.SearchStrategy[list[str]]:
    """Return lists of texts: ASCII, others and empty ones, in any order."""
    return st.lists(st.just("") | ascii_texts() | texts(), max_size=6)


def analyses() -> st.SearchStrategy[Analysis]:
    """Return all kinds of analysis settings."""
    return st.builds(
        Analysis,
        profile=st.sampled_from(["nfkc_cf", "lowercase"]),
        shingle_size=st.sampled_from([1, 2, 3, 5]),
        unit=st.sampled_from(["word", "character"]),
        short_texts=st.booleans(),
    )
