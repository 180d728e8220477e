"""Unicode is recognised by byte order marks and byte patterns, and legacy encodings by the frequency of letters."""

from __future__ import annotations

import codecs
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search.corpus.encoding import decode, detect_codec, is_binary, is_image

FRENCH = "L'été dernier, nous avons passé une semaine à la mer. Le garçon du café nous a raconté où l'on pêche."
GERMAN = "Die Bäckerei öffnet früh; wer später kommt, muß für Brötchen weit über die Brücke gehen. Schöne Grüße!"
SPANISH = "El señor Muñoz compró un café pequeño mañana por la mañana. ¿Dónde está la estación? ¡Qué frío!"
POLISH = "Późnym wieczorem źrebię wróciło ze łąki. Chłopiec był zmęczony, więc położył się spać w swoim łóżku."
CZECH = "Večer přišel starý mlynář k řece a díval se, jak voda žene kolo. Děti už dávno spaly v teplé světnici."
TURKISH = "Akşamüstü yağmur dindi. Çocuklar dışarı çıktı, ağaçların altında gölgede oturup şarkı söylediler."
RUSSIAN = "Вечером мы вышли к реке. На другом берегу горели огни, и кто-то тихо играл на гармони у старого моста."
GREEK = "Το πρωί η θάλασσα ήταν ήρεμη. Οι ψαράδες γύρισαν νωρίς στο λιμάνι και άπλωσαν τα δίχτυα στον ήλιο."
JAPANESE = "昨日は雨が降っていたので、図書館で本を読みました。帰り道に小さな喫茶店でコーヒーを飲みました。"
CHINESE = "今天早上天气很好，我们一起去公园散步。湖边有很多人在钓鱼，孩子们在草地上放风筝。"
KOREAN = "어제는 비가 와서 도서관에서 책을 읽었습니다. 돌아오는 길에 작은 찻집에서 커피를 마셨습니다."

LEGACY = [
    (FRENCH, "cp1252"),
    (GERMAN, "cp1252"),
    (GERMAN, "cp850"),
    (SPANISH, "cp1252"),
    (FRENCH + "\n" + GERMAN + "\n" + SPANISH, "cp1252"),
    ("“Smart quotes” – and a price of 5 €, as office programs wrote them…", "cp1252"),
    (POLISH, "cp1250"),
    (POLISH, "iso8859_2"),
    (CZECH, "cp1250"),
    (TURKISH, "cp1254"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8_r"),
    (RUSSIAN, "cp866"),
    (GREEK, "cp1253"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (JAPANESE, "iso2022_jp"),
    (CHINESE, "gb18030"),
    (KOREAN, "euc_kr"),
]
WITH_MARK = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf8_is_read_as_it_was_written(text: str) -> None:
    assert text.removeprefix("\ufeff") == decode(text.encode())


@pytest.mark.parametrize("encoding", WITH_MARK)
@given(text=st.text())
def test_unicode_with_a_byte_order_mark_is_read_as_it_was_written(encoding: str, text: str) -> None:
    if encoding == "utf-16-le" and text.startswith("\0"):
        return  # the same bytes as the mark of UTF-32-LE

    assert text == decode(WITH_MARK[encoding] + text.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf16_and_utf32_without_a_mark_are_recognised(encoding: str) -> None:
    for text in (FRENCH, RUSSIAN, JAPANESE + "\r\n", KOREAN, "words " * 50 + "\U0001f600", "\U0001f600 ok"):
        data = text.encode(encoding)

        assert b"\0" in data
        assert text == decode(data)
        assert not is_binary(data)


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_a_few_sentences_are_enough_for_a_legacy_encoding(text: str, encoding: str) -> None:
    assert text == decode(text.encode(encoding))


@pytest.mark.parametrize("around", ["Nothing but ASCII here.\n" * 20_000, "Nothing but ASCII here, " * 500])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [(RUSSIAN, "cp1251"), (JAPANESE, "shift_jis"), (FRENCH, "cp1252"), (RUSSIAN, "koi8_r"), (POLISH, "iso8859_2"),
     (KOREAN, "cp949")],
)  # fmt: skip
def test_the_first_non_ascii_word_decides(text: str, encoding: str, around: str) -> None:
    long = around + text + "\n" + around

    assert long == decode(long.encode(encoding))


def test_a_long_line_is_not_cut_inside_a_character() -> None:
    for shift in range(4):
        long = "." * shift + CHINESE + " " + (CHINESE.replace("，", "") * 4000)

        assert long == decode(long.encode("gb18030"))


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE])
def test_damaged_utf8_is_still_utf8(text: str) -> None:
    cut = len(text) // 2

    assert text[:cut] + "\ufffd" + text[cut:] == decode(text[:cut].encode() + b"\xff" + text[cut:].encode())
    assert text + "\ufffd" == decode(text.encode() + "é".encode()[:1])


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        b"\x7fELF\x02\x01\x01\0\0\0\0\0",
        b"plain words\0and a NUL byte",
        b"\0",
        bytes(range(256)) * 4,
        b"\0" * 4096,
        b"".join((n * 37 % 5000).to_bytes(2, "little") for n in range(500)),  # valid UTF-16
    ],
)
def test_data_with_nul_bytes_is_binary(data: bytes) -> None:
    assert decode(data) is None
    assert decode(bytes(range(1, 256)) * 4) is None
    assert is_binary(data)


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE])
def test_one_control_character_in_a_thousand_is_text(text: str) -> None:
    long = f"{text}\n" * 200
    data = long.encode()

    assert "\0\1" + long + "\0" == decode(b"\0\1" + data + b"\0")
    assert not is_binary(b"\0\1" + data + b"\0")
    assert decode(data + b"\0" * (len(data) // 900)) is None


@pytest.mark.parametrize(
    "head",
    [PNG, b"\xff\xd8\xff\xe0\0\x10JFIF", b"GIF89a\1\0", b"RIFF\0\1\0\0WEBPVP8 ", b"II*\0\1\0", b"BM\x36\xf9\x15\0\0\0"],
)
def test_an_image_is_recognised_by_its_first_bytes(head: bytes) -> None:
    assert decode(head) is None
    assert is_image(head)
    assert not is_image(b"\x7fELF\x02\x01\x01\0\0\0\0\0")


def test_a_declared_encoding_decides_between_legacy_encodings() -> None:
    assert "wrześ" == decode("wrześ".encode("iso8859_2"), "ISO-8859-2")
    assert "“a”" == decode("“a”".encode("cp1252"), "latin1")
    assert "①" == decode("①".encode("cp932"), "Shift_JIS")


@pytest.mark.parametrize("declared", ["utf-8", "utf-16", "utf-7", "no-such-encoding", "rot13", "punycode", "euc-jp"])
def test_a_wrong_declaration_is_ignored(declared: str) -> None:
    assert GERMAN == decode(GERMAN.encode("cp1252"), declared)
    assert GERMAN == decode(GERMAN.encode(), declared)


@given(st.binary() | st.text(st.characters(exclude_categories=["Cs"])).map(str.encode))
@example(codecs.BOM_UTF8 + b"a")
@example(b"\x1b$B" + b"abcd")
@example(b"a\0b")
def test_valid_utf8_is_decoded_as_its_codec_says(data: bytes) -> None:
    """Most files are decoded without looking for their codec."""
    codec = detect_codec(io.BytesIO(data))
    text = decode(data)

    assert text == (codec and data.decode(codec, "replace"))
    assert text is None or text == text.encode().decode()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_surrogate_pair_may_be_cut_by_the_sample(encoding: str) -> None:
    for shift in range(3):
        text = "words " * 5461 + "x" * shift + "\U0001f600" * 3 + " and more words" * 100
        data = text.encode(encoding)

        assert text == decode(data)
        assert not is_binary(data[: 1 << 16])


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_chunks_do_not_matter_in_long_files(size: int) -> None:
    before = ("Größe " * 200_000).encode()[:size]
    before = before[: before.rindex(b" ")].ljust(size, b".")

    assert before.decode() + "é und ein Zeichen\ufffd" == decode(before + "é und ein Zeichen".encode() + b"\xff")
    assert before.decode() + "漢" == decode(before + "漢".encode())
    assert "." * size + JAPANESE == decode(b"." * size + JAPANESE.encode("iso2022_jp"))
    assert before.decode() + "\0" == decode(before + b"\0")
    assert decode(before + b"\0" * (size // 900)) is None
