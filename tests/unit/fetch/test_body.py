"""Bodies in every coding, whole, cut, nested, mislabelled and explosive."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import brotli  # type: ignore[import-untyped]  # the wheel has no stubs
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from junkai.errors import FailureKind
from junkai.fetch.body import BodyError, Decoder

BODY: Final = b"<?xml version='1.0'?><rss>" + b"".join(b"<item>%d</item>" % n for n in range(5_000)) + b"</rss>"
MEGABYTE: Final = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


CODINGS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": raw_deflate,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstd,
}


def decoder_of(wire: bytes, label: str = "", *, size_max: int = MEGABYTE, step: int = 16_384) -> Decoder:
    decoder = Decoder(label, size_max)
    for start in range(0, len(wire), step):
        decoder.feed(wire[start : start + step])
    return decoder


def decoded(wire: bytes, label: str = "", *, size_max: int = MEGABYTE, step: int = 16_384) -> bytes:
    return decoder_of(wire, label, size_max=size_max, step=step).finish()


def failure_of(wire: bytes, label: str = "", *, size_max: int = MEGABYTE) -> FailureKind:
    with pytest.raises(BodyError) as caught:
        decoded(wire, label, size_max=size_max)
    return caught.value.kind


def label_of(coding: str) -> str:
    return coding.removeprefix("raw ")


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize("coding", CODINGS)
def test_every_coding_is_decoded_in_pieces_of_any_size(coding: str, step: int) -> None:
    decoder = decoder_of(CODINGS[coding](BODY), label_of(coding), step=step)

    assert (BODY, True, ()) == (decoder.finish(), decoder.is_whole, decoder.flags)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_a_coding_with_magic_bytes_needs_no_label(coding: str) -> None:
    decoder = decoder_of(CODINGS[coding](BODY))

    assert (BODY, ("coding_unlabelled",)) == (decoder.finish(), decoder.flags)


@pytest.mark.parametrize("label", ["gzip", "x-gzip", "br", "deflate", "zstd", "compress", "gzip, br"])
def test_plain_text_with_a_lying_label_is_plain_text(label: str) -> None:
    decoder = decoder_of(BODY, label)

    assert (BODY, ("coding_mislabelled",)) == (decoder.finish(), decoder.flags)


@pytest.mark.parametrize("label", ["", "identity", "IDENTITY", " none ", "utf-8", ","])
def test_a_body_without_a_coding_stays_as_it_is(label: str) -> None:
    decoder = decoder_of(BODY, label)

    assert (BODY, (), False) == (decoder.finish(), decoder.flags, decoder.is_whole)


@pytest.mark.parametrize(
    "body", [b"", b"a", b"x\x9c", b"x^2", b"x^2 + y^2", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x07", b"8O", b"X\x09"]
)
def test_a_body_of_a_few_bytes_is_not_taken_for_a_coding(body: bytes) -> None:
    assert body == decoded(body)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_cut_short_is_incomplete(coding: str) -> None:
    packed = CODINGS[coding](BODY)

    assert FailureKind.INCOMPLETE == failure_of(packed[: len(packed) // 2], label_of(coding))


def test_gzip_may_have_several_members_padding_and_trailing_garbage() -> None:
    decoder = decoder_of(gzip.compress(BODY) + gzip.compress(b"<!-- more -->") + bytes(20), "gzip", step=11)
    garbage = decoder_of(gzip.compress(BODY) + b"</html>", "gzip")

    assert (BODY + b"<!-- more -->", ()) == (decoder.finish(), decoder.flags)
    assert (BODY, ("coding_trailing_bytes",)) == (garbage.finish(), garbage.flags)


def test_zstd_may_have_several_frames() -> None:
    for step in (1, 255, 257, 10_000):
        assert BODY * 2 == decoded(zstd(BODY) * 2, "zstd", step=step)


@pytest.mark.parametrize("make", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("damage", [lambda data: data[:-4] + b"oops", lambda data: data[:-3]])
def test_a_wrong_or_missing_checksum_behind_complete_data_is_flagged(
    make: Callable[[bytes], bytes], damage: Callable[[bytes], bytes]
) -> None:
    damaged = damage(make(BODY))
    if make is gzip.compress and damaged.endswith(b"oops"):  # the last four bytes of gzip are the length
        damaged = damaged[:-8] + b"oops" + damaged[-4:]
    decoder = decoder_of(damaged, "gzip")

    assert (BODY, ("coding_checksum",)) == (decoder.finish(), decoder.flags)


def test_a_gzip_header_may_have_every_optional_part() -> None:
    plain = gzip.compress(BODY)
    header = b"\x1f\x8b\x08\x1e" + plain[4:10] + b"\x03\x00abc" + b"name\0" + b"comment\0" + b"\x00\x00"

    assert BODY == decoded(header + plain[10:], step=3)


def test_broken_data_in_the_middle_is_a_protocol_failure() -> None:
    packed = bytearray(gzip.compress(bytes(range(256)) * 400, compresslevel=9))
    packed[20:60] = b"\xff" * 40

    assert FailureKind.PROTOCOL == failure_of(bytes(packed), "gzip")


def test_two_layers_are_unwrapped_and_no_more() -> None:
    twice = zlib.compress(gzip.compress(BODY))

    assert BODY == decoded(twice, "gzip, deflate")
    assert BODY == decoded(gzip.compress(brotli.compress(BODY)), "br, gzip")
    assert BODY == decoded(gzip.compress(gzip.compress(BODY)), "gzip")
    assert FailureKind.PROTOCOL == failure_of(gzip.compress(twice), "gzip, deflate, gzip")


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_never_inflates_past_the_cap(coding: str) -> None:
    bomb = CODINGS[coding](b"<rss>" + bytes(16 * MEGABYTE))

    assert FailureKind.TOO_LARGE == failure_of(bomb, label_of(coding))


def test_a_nested_bomb_is_defused_too() -> None:
    assert FailureKind.TOO_LARGE == failure_of(gzip.compress(gzip.compress(bytes(16 * MEGABYTE))), "gzip")


def test_endless_bytes_behind_the_end_of_the_data_count_as_well() -> None:
    assert FailureKind.TOO_LARGE == failure_of(gzip.compress(BODY) + b"x" * 2 * MEGABYTE, "gzip")


def test_the_cap_itself_is_allowed() -> None:
    assert bytes(MEGABYTE) == decoded(bytes(MEGABYTE))
    assert bytes(MEGABYTE) == decoded(gzip.compress(bytes(MEGABYTE)))
    assert FailureKind.TOO_LARGE == failure_of(bytes(MEGABYTE + 1))
    assert FailureKind.TOO_LARGE == failure_of(gzip.compress(bytes(MEGABYTE + 1)))


@given(st.binary(max_size=300), st.sampled_from(["", "gzip", "br", "deflate", "zstd", "br, gzip"]), st.integers(1, 50))
def test_any_bytes_are_decoded_or_refused(wire: bytes, label: str, step: int) -> None:
    try:
        body = decoded(wire, label, size_max=10_000, step=step)
    except BodyError:
        return

    assert len(body) <= 10_000


@pytest.mark.parametrize(
    ("name", "label", "expected"),
    [
        ("html-gzip.bin", "gzip", 74_837),
        ("html-rawdeflate.bin", "deflate", 74_840),
        ("html-br.bin", "br", 74_837),
        ("html-gzip-deflate.bin", "gzip, deflate", 74_837),
        ("html-gzip-deflate-gzip.bin", "gzip, deflate, gzip", FailureKind.PROTOCOL),
        ("bomb-gzip.bin", "gzip", FailureKind.TOO_LARGE),
        ("bomb-deflate.bin", "deflate", FailureKind.TOO_LARGE),
        ("truncated-crc-error-short.gz", "", FailureKind.INCOMPLETE),
        ("unexpected-eof.gz", "", 8_576),
        ("feed-sample1.xml.gz", "", 9_950),
    ],
)
def test_the_corpus_of_compressed_bodies_comes_out_right(
    corpora: Path, name: str, label: str, expected: int | FailureKind
) -> None:
    wire = (corpora / "http" / "compression" / name).read_bytes()
    if isinstance(expected, FailureKind):
        assert expected == failure_of(wire, label, size_max=10 * MEGABYTE)
    else:
        body = decoded(wire, label, size_max=10 * MEGABYTE)

        assert expected == len(body)


def test_what_an_inner_layer_drops_as_trailing_counts_as_well() -> None:
    wire = brotli.compress(gzip.compress(BODY) + b"\0" * (64 * MEGABYTE), quality=1)

    assert FailureKind.TOO_LARGE == failure_of(wire, "gzip, br")


@pytest.mark.parametrize("part", [gzip.compress(b""), b"\x28\xb5\x2f\xfd\x00\x00\x01\x00\x00"])
def test_a_body_of_a_million_empty_parts_is_refused(part: bytes) -> None:
    assert FailureKind.PROTOCOL == failure_of(part * 2_000)
