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
from simdoc_search.sketch.tokens import ALPHABET, TOKEN_LENGTHS, decode, decode_text, encode
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
GOLDEN = [  # text, length, number of tokens, first and last token, SHA-256 of all tokens joined by spaces
    ("prose", 4, 67, ("!+~!", "~2.O"), "d12e60d268648043843e13f304d1c5670ae721e3ba549bd3fc608585c05ad7ac"),
    ("prose", 5, 67, ("!+~!!", "~2.OS"), "938a239c58ed2686df7aba7fb2e8771cffc4c8401491590bbbf379a2981f34fa"),
    ("european", 4, 36, ("!E_B", "~6;A"), "6dc4dcbdf99f7ae3156b1dca227a22d79c5e6c43eae012347689702a8f64eeed"),
    ("european", 5, 36, ("!E_BK", "~6;AY"), "62b735afa75befd421239db782442a70656b5abd2094d6b11f7faa0e158035e0"),
    ("asian", 4, 42, (")7D>", "~8E9"), "bd05b0a919d9ac46739dfe28a84e92e0eb7f2dedb3c650859022e3fa39b0e139"),
    ("asian", 5, 42, (")7D>C", "~8E9)"), "bbaf330df24820ed2c9e0388e0c355ac632e0fb298db90691d62e5e1c5ef5601"),
    ("marks", 4, 26, ("#?])", "|^{}"), "e5a8b574aa92d321a3c87cadcd9d68f838af64a5594ed72443291ad77f9a013f"),
    ("marks", 5, 26, ("#?])5", "|^{}("), "25ac9a065cae1a29b2f6447ff7a84c0453251aa3c5d30059b8c2f1e7b2c99834"),
    ("short", 4, 1, ("N8#Z", "N8#Z"), "301c2fb70332ec90dbbc0465b2a4f3d1b9da4a5281f7076f696f8a301bbe6262"),
    ("short", 5, 1, ("N8#Z4", "N8#Z4"), "956f36a38569dad5b79503b7b7c71418c5ec07078af640bab0e7672b15e5355a"),
]
LENGTHS = st.sampled_from(TOKEN_LENGTHS)


@pytest.mark.parametrize(("name", "length", "number", "ends", "digest"), GOLDEN)
def test_tokens_of_version_1(name: str, length: int, number: int, ends: tuple[str, str], digest: str) -> None:
    """The default tokens of these texts must not change while MinHash.version is 1."""
    tokens = fingerprint(GOLDEN_TEXTS[name]).tokens(length=length)

    assert 1 == MinHash.version
    assert (number, ends) == (len(tokens), (tokens[0], tokens[-1]))
    assert digest == hashlib.sha256(" ".join(tokens).encode()).hexdigest()


@given(text=texts(), bits=st.integers(0, 12), analysis=analyses(), length=LENGTHS)
def test_tokens_follow_the_definition(text: str, bits: int, analysis: Analysis, length: int) -> None:
    """A token has the number of the bucket and the highest bits of val1, six bits per character, highest first."""
    kept: dict[int, tuple[int, int]] = {}
    for value in map(plain_value, shingles(text, analysis)):
        bucket = value[0] >> 64 - bits
        kept[bucket] = min(kept.get(bucket, value), value)
    codes = [(bucket << 64 | kept[bucket][1]) >> 64 + bits - 6 * length for bucket in sorted(kept)]
    expected = ["".join(ALPHABET[code >> 6 * place & 63] for place in reversed(range(length))) for code in codes]

    found = fingerprint(text, analysis, MinHash(bucket_count=2**bits)).tokens(length=length)

    assert None is first_difference(expected, found)


def test_the_alphabet() -> None:
    """The 64 printable ASCII characters without lower case, quotes, backslash, `<` and `&`, in ASCII order."""
    assert "!#$%'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`{|}~" == ALPHABET
    assert sorted(set(ALPHABET)) == list(ALPHABET)


@given(st.integers(0, 64**4 - 1))
def test_no_search_for_plain_words_matches_a_token(code: int) -> None:
    """An engine's `simple` analyzer splits any text into runs of lower-case letters. No such run is a token."""
    (token,) = encode(np.array([code], np.uint32))

    assert token not in re.findall("[^\\W\\d_]+", token.lower())
    assert not any(letter.islower() for letter in token)


@given(st.data(), LENGTHS)
def test_encoded_codes_are_decoded(data: st.DataObject, length: int) -> None:
    """The text of a field is decoded, too. Tokens sort like their numbers, so an index has them in bucket order."""
    codes = data.draw(st.lists(st.integers(0, 64**length - 1), max_size=40))
    tokens = encode(np.array(codes, np.uint32), length)

    assert codes == decode(tokens, length).tolist() == decode_text(" ".join(tokens), length).tolist()
    assert all(len(token) == length and set(token) <= set(ALPHABET) for token in tokens)
    assert encode(np.array(sorted(codes), np.uint32), length) == sorted(tokens)


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the number 16777216 cannot be encoded in a token of 4 characters$"):
        encode(np.array([1, 64**4], np.uint32))


@pytest.mark.parametrize(
    ("token", "problem"),
    [(token, " of 4 characters") for token in ("", "ABC", "ABCDE", "ABCÉ", "AB漢")]
    + [(token, "") for token in ("abcD", "AB D", 'AB"D', "AB\\D", "AB<D", "AB&D", "ABC\x7f", "\0ABC")],
)
def test_a_malformed_token_is_named_in_the_error(token: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        decode(["ABCD", token, "EFGH"])

    assert f"{token!r} is not a token{problem}" == str(error.value)


@pytest.mark.parametrize(
    ("minhash", "message"),
    [
        (MinHash(hash_count=2), "need hash_count 1 and hash_set_size 1, not MinHash(hash_count=2, "),
        (MinHash(hash_set_size=2), "need hash_count 1 and hash_set_size 1, not MinHash(hash_count=1, "),
        (MinHash(bucket_count=100), "need a power of two up to 4096 as the number of buckets, such as 64, not 100; "),
        (MinHash(bucket_count=8192), "need a power of two up to 4096 as the number of buckets, such as 4096, not 8192"),
    ],
)
def test_settings_without_bucketed_tokens_are_refused(minhash: MinHash, message: str) -> None:
    """Such settings still have Lucene terms."""
    found = fingerprint("a b c", minhash=minhash)

    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        found.codes()
    assert message in str(error.value)
    assert found.tokens("lucene")


def test_other_lengths_and_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^a token must have 4 or 5 characters, not 3$"):
        fingerprint("a b c").tokens(length=3)
    with pytest.raises(ValueError, match=r"^format must be 'bucketed' or 'lucene', not 'raw'$"):
        fingerprint("a b c").tokens("raw")
