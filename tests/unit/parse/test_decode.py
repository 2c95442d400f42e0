"""Bodies in every encoding that feeds come in."""

from __future__ import annotations

import pytest

from junkai.parse import parse_document
from junkai.parse.decode import decode_body


def declared(encoding: str, title: bytes) -> bytes:
    return (
        f'<?xml version="1.0" encoding="{encoding}"?><rss><channel><title>'.encode()
        + title
        + (b"</title></channel></rss>")
    )


def title_of(body: bytes, content_type: str = "text/xml") -> str:
    return parse_document(body, url="https://a.example/feed", content_type=content_type).title


@pytest.mark.parametrize(
    ("label", "codec", "title"),
    [
        ("utf-8", "utf-8", "①㈱髙橋～é"),
        ("utf8", "utf-8", "①㈱髙橋"),
        ("Shift_JIS", "cp932", "①㈱髙橋さん～前編"),
        ("x-sjis", "cp932", "表示"),
        ("EUC-JP", "euc-jp", "日本語とカナ"),
        ("GB2312", "gb18030", "整理书架朱镕基"),
        ("gbk", "gb18030", "整理书架"),
        ("EUC-KR", "cp949", "동네 도서관 뷁"),
        ("ks_c_5601-1987", "cp949", "동네"),
        ("Big5", "big5hkscs", "中文標題"),
        ("ISO-8859-1", "cp1252", "“café” €5"),
        ("us-ascii", "cp1252", "café"),
        ("latin1", "cp1252", "naïve"),
        ("windows-1251", "cp1251", "Прогулка"),
        ("KOI8-R", "koi8-r", "Прогулка"),
        ("iso-8859-9", "cp1254", "şehir"),
        ("iso-8859-2", "iso8859-2", "žluťoučký"),
    ],
)
def test_a_declared_label_means_its_whatwg_decoder(label: str, codec: str, title: str) -> None:
    assert title == title_of(declared(label, title.encode(codec)))


def test_euc_jp_has_nec_row_13_and_the_fullwidth_tilde() -> None:
    row_13 = b"\xad\xa1\xad\xea"
    tilde = b"\xa1\xc1"

    assert "①㈱～" == title_of(declared("EUC-JP", row_13 + tilde))


def test_iso_2022_jp_has_nec_row_13_and_half_width_katakana() -> None:
    title = b"\x1b$B\x2d\x21F|K\\\x1b(B a \x1b(I\x31\x32\x1b(J"

    assert "①日本 a ｱｲ" == title_of(declared("ISO-2022-JP", title))


def test_windows_1252_keeps_the_bytes_that_it_does_not_define() -> None:
    assert "a\x81é" == title_of(declared("windows-1252", b"a\x81\xe9"))


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_encodings_need_no_mark(codec: str) -> None:
    assert "題 é" == title_of("<rss><channel><title>題 é</title></channel></rss>".encode(codec))


def test_a_byte_order_mark_beats_the_charset_parameter() -> None:
    body = b"\xef\xbb\xbf" + declared("iso-8859-1", "é".encode())

    assert "é" == title_of(body, "text/xml; charset=iso-8859-1")


def test_the_charset_parameter_beats_the_declaration() -> None:
    body = declared("utf-8", "é".encode("latin-1"))

    assert "é" == title_of(body, 'text/xml; charset="ISO-8859-1"')


def test_a_charset_that_only_the_content_type_names_counts() -> None:
    body = b"<rss><channel><title>\xe9</title></channel></rss>"

    assert "é" == title_of(body, "application/rss+xml; charset=iso-8859-1")


def test_text_xml_without_charset_is_not_ascii() -> None:
    assert "é" == title_of(declared("ISO-8859-1", b"\xe9"), "text/xml")


def test_an_unknown_label_falls_to_the_next_source() -> None:
    document = parse_document(
        declared("iso-8859-1", b"\xe9"), url="https://a.example/", content_type="text/xml; charset=x-none"
    )

    assert "é" == document.title
    assert ["unknown_encoding"] == [problem.code for problem in document.problems]


def test_a_stray_byte_in_utf_8_becomes_a_replacement_character_and_the_rest_stays() -> None:
    document = parse_document(declared("utf-8", "日\n".encode() + b"\xff" + "本".encode()), url="https://a.example/")

    assert "日 \ufffd本" == document.title
    assert [("bad_bytes", 2)] == [(problem.code, problem.line) for problem in document.problems]


def test_a_declared_encoding_that_fails_gives_way_to_utf_8_that_fits() -> None:
    document = parse_document(declared("shift_jis", "日本語のテスト文章".encode()), url="https://a.example/")

    assert ("日本語のテスト文章", "utf-8") == (document.title, document.encoding)
    assert ["wrong_encoding"] == [problem.code for problem in document.problems]


def test_eight_bit_text_that_says_utf_16_is_not() -> None:
    assert "plain é" == title_of(declared("UTF-16", "plain é".encode()))


def test_kilobytes_of_space_before_the_declaration_do_not_hide_it() -> None:
    assert "é" == title_of(b"\r\n" * 20_000 + declared("iso-8859-1", b"\xe9"))


def test_marks_are_no_part_of_the_text() -> None:
    assert "é" == title_of(b"\xef\xbb\xbf\xef\xbb\xbf" + declared("utf-8", "é".encode()))


def test_json_is_unicode_whatever_its_content_type_lacks() -> None:
    body = '{"version": "https://jsonfeed.org/version/1.1", "title": "題", "items": []}'

    assert ["題"] * 3 == [
        title_of(body.encode(codec), "application/json") for codec in ("utf-8", "utf-16", "utf-32-le")
    ]


@pytest.mark.parametrize("body", [b"", b"\xff", b"\xff\xfe\x00", b"\x1b$B!", b"\x8f\xa1", b"<?xml encoding='"])
def test_no_bytes_make_decoding_fail(body: bytes) -> None:
    for charset in ("utf-8", "euc-jp", "iso-2022-jp", "utf-16", "gb18030", "big5", "windows-1252"):
        decoded = decode_body(body, f"text/xml; charset={charset}")

        assert decoded.text == decoded.as_utf8(body).decode()
