"""The stored form of a token. If a test fails here, existing indexes become unreadable."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash, fingerprint
from simdoc_search.analysis.shingles import shingles
from simdoc_search.sketch.tokens import ALPHABET, decode, decode_text, encode, encode_as_text, encode_as_texts
from tests.support.strategies import analyses, texts
from tests.support.vectors import first_difference, plain_value

GOLDEN_TEXTS = {
    "prose": """The ferry leaves the harbour at seven, long before the market opens. Whoever wants to reach the
    island by noon has to be on board; there is no second boat, and the captain doesn't wait. On the way out one
    passes three lighthouses, of which only the last is still in use. The keeper's log, begun in 1874, lists every
    storm, every wreck and every visitor: 4,112 names until now, some of them more than once.""",
    "european": """Die Straßen der Stadt GRÖẞE und die ﬁnnische Küste; ΟΔΥΣΣΕΥΣ και ΣΊΣΥΦΟΣ, ο Σίσυφος ξανά.
    İstanbul'da yağmur yağıyor, IŞIK sönüyor. Съешь ещё этих мягких французских БУЛОК, да выпей чаю. L'été,
    l’œuvre d’un cœur naïf; co\u00adoperation, cafe\u0301 and café, ２０ｋｇ or 20kg.""",
    "asian": """図書館は午前九時に開きます。カタカナの語とひらがな。今天天气很好，我们去公园散步吧。
    오늘은 날씨가 좋습니다 그래서 공원에 갑니다. สวัสดีครับ ยินดีที่ได้รู้จัก नमस्ते दुनिया कैसे हो आप""",
    "marks": """Version 2.10.3 costs 1,299.50 (or 3:45 h) at www.example.org/a_b-c; don't e-mail x@y.example!
    👩\u200d❤\ufe0f\u200d👩 🇩🇪🇯🇵 👍🏽 #\ufe0f\u20e3 © ™ שב״כ צה״ל 𝒜𝓁𝓅𝒽𝒶 𐐀𐐨 __init__ A_B_c \ud83d broken \udc00 pairs""",
    "short": "Only three words.",
}
GOLDEN = [  # text, number of tokens, first and last token, SHA-256 of all tokens joined by spaces
    ("prose", 67, ("!+~", "~2."), "5809c0ec1b5f4227cdaacc45fc3ff36e521ca65f7db9d3926fca7a5028cb5d45"),
    ("european", 36, ("!E_", "~6;"), "f17c70e2253721c1784963aafde1e7810bad10f97a709c9ea477e9f3388419a3"),
    ("asian", 42, (")7D", "~8E"), "e37150beedc6e26d9c274f9d84d94827e95c010813a29410489fc8cfc537f639"),
    ("marks", 26, ("#?]", "|^{"), "140b53aa76e14f29d6b2a4cd3cb53ecc81b7202856ac37b1208310d2f1c29e8f"),
    ("short", 1, ("N8#", "N8#"), "2206aaff4272efec40553d2f4d6b8a9a2336fe390a4544491a33598b99fd6886"),
]


@pytest.mark.parametrize(("name", "number", "ends", "digest"), GOLDEN)
def test_tokens_of_version_1(name: str, number: int, ends: tuple[str, str], digest: str) -> None:
    """The default tokens of these texts must not change while MinHash.version is 1."""
    tokens = fingerprint(GOLDEN_TEXTS[name]).tokens()

    assert 1 == MinHash.version
    assert (number, ends) == (len(tokens), (tokens[0], tokens[-1]))
    assert digest == hashlib.sha256(" ".join(tokens).encode()).hexdigest()


@given(text=texts(), bits=st.integers(0, 12), analysis=analyses())
def test_tokens_follow_the_definition(text: str, bits: int, analysis: Analysis) -> None:
    """A token has the number of the bucket and the highest 9 bits of val1, six bits per character, highest first."""
    kept: dict[int, tuple[int, int]] = {}
    for value in map(plain_value, shingles(text, analysis)):
        bucket = value[0] >> 64 - bits
        kept[bucket] = min(kept.get(bucket, value), value)
    token_ids = [bucket << 9 | kept[bucket][1] >> 64 - 9 for bucket in sorted(kept)]
    lengths = [3 if code < 64**3 else 4 for code in token_ids]
    expected = [
        "".join(ALPHABET[code >> 6 * place & 63] for place in reversed(range(length)))
        for code, length in zip(token_ids, lengths, strict=True)
    ]

    found = fingerprint(text, analysis, MinHash(bucket_count=2**bits)).tokens()

    assert None is first_difference(expected, found)


def test_the_alphabet() -> None:
    """The 64 printable ASCII characters without lower case, quotes, backslash, `<` and `&`, in ASCII order."""
    assert "!#$%'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`{|}~" == ALPHABET
    assert sorted(set(ALPHABET)) == list(ALPHABET)


@given(st.integers(0, 64**3 - 1))
def test_no_search_for_plain_words_matches_a_token(code: int) -> None:
    """An engine's `simple` analyzer splits any text into runs of lower-case letters. No such run is a token."""
    (token,) = encode(np.array([code], np.uint32))

    assert token not in re.findall("[^\\W\\d_]+", token.lower())
    assert not any(letter.islower() for letter in token)


@given(st.data(), st.sampled_from([None, 3, 4, 5]))
def test_encoded_token_ids_are_decoded(data: st.DataObject, length: int | None) -> None:
    """Without a length, a code has three characters, or four if it needs them."""
    token_ids = data.draw(st.lists(st.integers(0, 64 ** (length or 4) - 1), max_size=40))
    tokens = encode(np.array(token_ids, np.uint32), length)

    assert token_ids == decode(tokens, length).tolist() == decode_text(" ".join(tokens), length).tolist()
    assert all(set(token) <= set(ALPHABET) for token in tokens)
    assert [length or (3 if code < 64**3 else 4) for code in token_ids] == list(map(len, tokens))


@given(st.data(), st.sampled_from([None, 3, 4, 5]), st.sampled_from([64**3, 64**4]))
def test_the_texts_of_many_documents_are_those_of_each(data: st.DataObject, length: int | None, limit: int) -> None:
    token_ids = data.draw(
        st.lists(st.lists(st.integers(0, min(limit, 64 ** (length or 4)) - 1), max_size=9), max_size=9)
    )
    arrays = [np.array(part, np.uint32) for part in token_ids]

    assert encode_as_texts(arrays, length) == [encode_as_text(part, length) for part in arrays]


@given(st.lists(st.integers(0, 64**3 - 1), max_size=40))
def test_tokens_sort_like_their_ids(token_ids: list[int]) -> None:
    """So an index of terms has the tokens of a document in the order of its buckets."""
    assert encode(np.array(sorted(token_ids), np.uint32)) == sorted(encode(np.array(token_ids, np.uint32)))


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the token id 16777216 is too large for a token of 4 characters$"):
        encode(np.array([1, 64**4], np.uint32))


@pytest.mark.parametrize(
    ("token", "problem"),
    [(token, " of 3 characters") for token in ("", "AB", "ABCDE", "ABÉ", "A漢")]
    + [(token, "") for token in ("abD", "A D", 'A"D', "A\\D", "A<D", "A&D", "AB\x7f", "\0AB")],
)
def test_a_malformed_token_is_named_in_the_error(token: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        decode(["ABC", token, "EFG"])

    assert f"{token!r} is not a token{problem}" == str(error.value)


def test_a_token_of_four_characters_that_needs_three_is_refused() -> None:
    """Otherwise, two tokens would mean the same code."""
    with pytest.raises(ValueError, match=r"^'!ABC' is not a token, because its id needs only 3 characters$"):
        decode(["!ABC", "ABCD"])


@pytest.mark.parametrize(
    ("minhash", "message"),
    [
        (MinHash(hash_count=2), "needs hash_count 1 and hash_set_size 1, not 2 and 1; use format 'lucene'"),
        (MinHash(hash_set_size=2), "needs hash_count 1 and hash_set_size 1, not 1 and 2; use format 'lucene'"),
        (MinHash(bucket_count=100), "needs a bucket_count that is a power of two up to 4096, such as 64, not 100; "),
        (MinHash(bucket_count=8192), "needs a bucket_count that is a power of two up to 4096, such as 4096, not 8192"),
    ],
)
def test_settings_without_bucketed_tokens_are_refused(minhash: MinHash, message: str) -> None:
    """Such settings still have Lucene terms."""
    found = fingerprint("a b c", sketch=minhash)

    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        found.token_ids()
    assert message in str(error.value)
    assert found.tokens("lucene")


def test_other_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^format must be 'bucketed' or 'lucene', not 'raw'$"):
        fingerprint("a b c").tokens("raw")
