"""A label of the WHATWG Encoding Standard in, the name of its encoding out; bytes and that name in, text out.

Python's codecs do the work. Where they are stricter than the standard's decoders (NEC and IBM extensions of EUC-JP
and ISO-2022-JP, the C1 controls of windows-1252), this module makes up for it.
"""

from __future__ import annotations

import codecs
import re
from typing import Final, Literal

Errors = Literal["strict", "replace"]

#: Encoding → Python's codec, and the labels besides its own name (Encoding Standard §4.2).
_ENCODINGS: Final = {
    "utf-8": ("utf-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"),
    "ibm866": ("cp866", "866 cp866 csibm866"),
    "iso-8859-2": ("iso8859-2", "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
    "iso-8859-3": ("iso8859-3", "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
    "iso-8859-4": ("iso8859-4", "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
    "iso-8859-5": (
        "iso8859-5",
        "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    ),
    "iso-8859-6": (
        "iso8859-6",
        (
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127"
            " iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
    ),
    "iso-8859-7": (
        "iso8859-7",
        (
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987"
            " sun_eu_greek"
        ),
    ),
    "iso-8859-8": (
        "iso8859-8",
        (
            "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988"
            " visual csiso88598i iso-8859-8-i logical"
        ),
    ),
    "iso-8859-10": ("iso8859-10", "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
    "iso-8859-13": ("iso8859-13", "iso8859-13 iso885913"),
    "iso-8859-14": ("iso8859-14", "iso8859-14 iso885914"),
    "iso-8859-15": ("iso8859-15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
    "iso-8859-16": ("iso8859-16", ""),
    "koi8-r": ("koi8-r", "cskoi8r koi koi8 koi8_r"),
    "koi8-u": ("koi8-u", "koi8-ru"),
    "macintosh": ("mac-roman", "csmacintosh mac x-mac-roman"),
    "windows-874": ("cp874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
    "windows-1250": ("cp1250", "cp1250 x-cp1250"),
    "windows-1251": ("cp1251", "cp1251 x-cp1251"),
    "windows-1252": (
        "cp1252",
        (
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1"
            " iso_8859-1:1987 l1 latin1 us-ascii x-cp1252"
        ),
    ),
    "windows-1253": ("cp1253", "cp1253 x-cp1253"),
    "windows-1254": (
        "cp1254",
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254",
    ),
    "windows-1255": ("cp1255", "cp1255 x-cp1255"),
    "windows-1256": ("cp1256", "cp1256 x-cp1256"),
    "windows-1257": ("cp1257", "cp1257 x-cp1257"),
    "windows-1258": ("cp1258", "cp1258 x-cp1258"),
    "x-mac-cyrillic": ("mac-cyrillic", "x-mac-ukrainian"),
    "gbk": ("gb18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk"),
    "gb18030": ("gb18030", ""),
    "big5": ("big5hkscs", "big5-hkscs cn-big5 csbig5 x-x-big5"),
    "euc-jp": ("euc-jp", "cseucpkdfmtjapanese x-euc-jp"),
    "iso-2022-jp": ("iso-2022-jp", "csiso2022jp"),
    "shift_jis": ("cp932", "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
    "euc-kr": (
        "cp949",
        "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    ),
    "utf-16be": ("utf-16-be", "unicodefffe"),
    "utf-16le": ("utf-16-le", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"),
    "utf-32be": ("utf-32-be", ""),  # not in the standard, but in XML (Appendix F) and in old JSON (RFC 7159 §8.1)
    "utf-32le": ("utf-32-le", ""),
}
#: What Python accepts besides, and people write: "windows-31j" has many names.
_MORE_LABELS: Final = {"cp932": "shift_jis", "cp949": "euc-kr", "uhc": "euc-kr", "cp936": "gbk", "eucjp": "euc-jp"}
_NAMES: Final = {
    label: name for name, (_, labels) in _ENCODINGS.items() for label in (name, *labels.split())
} | _MORE_LABELS

#: The standard's index of JIS X 0208 is Microsoft's; Python's EUC-JP has the characters that JIS once meant.
_MICROSOFT: Final = str.maketrans("\u301c\u2016\u2212\u00a2\u00a3\u00ac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2")
#: The five bytes without a character are C1 controls.
_WINDOWS_1252: Final = "".join(bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
#: Over these, bad bytes and the extensions among them are left to Python's codec: each costs a callback, of some 7 µs.
BAD_MAX: Final = 10_000
#: Escape sequences of ISO-2022-JP, each of which costs 1 µs and 150 bytes; and bytes that may begin an extension.
SEQUENCES_MAX: Final = 200_000
_EXTENSION_LEADS: Final = (b"\xad", b"\xf9", b"\xfa", b"\xfb", b"\xfc")
_JIS_SEQUENCES: Final = re.compile(rb"\x1b(\([BJI]|\$[@B]|\$\(D)")


def named(label: str) -> str | None:
    """The encoding that a label names, or None where the standard knows none."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def decode(body: bytes, encoding: str, *, errors: Errors) -> str:
    """Decode `body` from an encoding that `named` gave. Raises UnicodeDecodeError where errors is "strict"."""
    if encoding == "euc-jp":
        return _euc_jp(body, errors)
    if encoding == "iso-2022-jp":
        return _iso_2022_jp(body, errors)
    if encoding == "windows-1252" and errors == "replace":
        return codecs.charmap_decode(body, errors, _WINDOWS_1252)[0]
    return body.decode(_ENCODINGS[encoding][0], errors)


def _euc_jp(body: bytes, errors: Errors) -> str:
    try:
        return body.decode("euc-jp").translate(_MICROSOFT)
    except UnicodeDecodeError:
        if (text := _hopeless(body, "euc-jp", errors)) is not None:
            return text
    return body.decode("euc-jp", _EXTENSIONS if errors == "strict" else _EXTENSIONS_OR_REPLACE).translate(_MICROSOFT)


def _iso_2022_jp(body: bytes, errors: Errors) -> str:
    """RFC 1468 with JIS X 0201 katakana: each run between two escape sequences is EUC-JP in seven bits."""
    text = _hopeless(body, "iso2022_jp_ext", errors)
    if text is not None:
        return text
    pieces = _JIS_SEQUENCES.split(body)
    texts = [pieces[0].decode("ascii", errors)]
    for sequence, run in zip(pieces[1::2], pieces[2::2], strict=True):
        if sequence in (b"(B", b"(J"):
            texts.append(run.decode("ascii", errors))
        elif sequence == b"(I":
            texts.append(bytes(byte | 0x80 if byte > 0x20 else byte for byte in run).decode("cp932", errors))
        else:
            prefix = b"\x8f" if sequence == b"$(D" else b""
            texts.append(_euc_jp(_with_high_bits(run, prefix), errors))
    return "".join(texts)


def _hopeless(body: bytes, codec: str, errors: Errors) -> str | None:
    """The text as Python's codec alone has it, where so much is bad that what is below would take too long."""
    text = body.decode(codec, "replace")
    extensions = sum(map(body.count, _EXTENSION_LEADS)) if codec == "euc-jp" else 0
    if max(extensions, body.count(b"\x1b")) <= SEQUENCES_MAX and text.count("\N{REPLACEMENT CHARACTER}") <= BAD_MAX:
        return None
    return text if errors == "replace" else body.decode(codec)


def _with_high_bits(run: bytes, prefix: bytes) -> bytes:
    raised = bytes(byte | 0x80 if byte > 0x20 else byte for byte in run)
    if not prefix:
        return raised
    return b"".join(prefix + raised[i : i + 2] for i in range(0, len(raised), 2))


# ── where Python's codecs stop ───────────────────────────────────────────────────────────────────────────────────


def _extension(error: UnicodeError) -> tuple[str, int]:
    """NEC row 13 and the IBM kanji of rows 89 to 92, which Shift_JIS (cp932) has at the same place of the grid."""
    assert isinstance(error, UnicodeDecodeError)
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) <= 0xFE:
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead = row // 2 + (0x81 if row < 62 else 0xC1)
        trail = cell + (0x9F if row % 2 else 0x40 if cell < 63 else 0x41)
        try:
            return bytes((lead, trail)).decode("cp932"), error.start + 2
        except UnicodeDecodeError:
            pass
    raise error


def _extension_or_replace(error: UnicodeError) -> tuple[str, int]:
    try:
        return _extension(error)
    except UnicodeDecodeError as unknown:
        return "\N{REPLACEMENT CHARACTER}", unknown.start + 1


_EXTENSIONS: Final = "junkai.euc-jp"
_EXTENSIONS_OR_REPLACE: Final = "junkai.euc-jp.replace"
codecs.register_error(_EXTENSIONS, _extension)
codecs.register_error(_EXTENSIONS_OR_REPLACE, _extension_or_replace)
