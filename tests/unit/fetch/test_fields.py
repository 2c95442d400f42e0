"""Header lines, proper and not."""

from __future__ import annotations

from junkai.fetch.fields import Fields, parse

HEAD = (b"HTTP/1.1 200 OK\r\n",)


def test_names_are_case_insensitive_and_values_keep_their_order() -> None:
    fields = Fields([("Link", "a"), ("LINK", "b"), ("ETag", "x")])

    assert ("a", "b", "a, b") == (fields.get("link"), fields.last("Link"), fields.joined("liNK"))
    assert ("a", "b") == fields.all("LINK")
    assert (None, None, None, ()) == (fields.get("no"), fields.last("no"), fields.joined("no"), fields.all("no"))
    assert [("link", "a"), ("link", "b"), ("etag", "x")] == list(fields.items())


def test_the_status_line_is_no_field_and_space_around_values_is_none_of_them() -> None:
    fields, flags = parse([*HEAD, b'ETag:  "a: b" \t\r\n', b"Empty:\r\n"])

    assert [("etag", '"a: b"'), ("empty", "")] == list(fields.items())
    assert () == flags


def test_bad_lines_are_left_out_and_flagged() -> None:
    bad = [b"no colon\r\n", b": no name\r\n", b"ETag : space\r\n", b"ETag: \x1b[2J\r\n", b"caf\xe9: x\r\n"]
    fields, flags = parse([*HEAD, *bad, b"Good: 1\r\n"])

    assert [("good", "1")] == list(fields.items())
    assert ("bad_header_line",) == flags


def test_bare_line_feeds_are_flagged() -> None:
    fields, flags = parse([b"HTTP/1.1 200 OK\n", b"A: b\n"])

    assert "b" == fields.get("a")
    assert ("bare_lf",) == flags


def test_bytes_beyond_ascii_come_back_as_they_were() -> None:
    fields, _ = parse([*HEAD, b"ETag: \x80\xff\xa0\r\n"])

    assert b"\x80\xff\xa0" == (fields.get("etag") or "").encode("latin-1")
