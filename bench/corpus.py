"""A seed and a folder in; 200 distinct feed files, as public feeds come in sizes and formats, in the folder.

60 % have about 12 KB and 10 entries, 30 % about 60 KB and 30, 10 % about 250 KB and 100: 25 entries on average. Four
in five are RSS, one Atom; one in four is Japanese. Next to each file lies its gzip form for nginx's gzip_static.
"""

from __future__ import annotations

import gzip
import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from pathlib import Path
from typing import Final

FILES: Final = 200
SEED: Final = 20_261_201
NEWEST_AT: Final = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

#: (share, entries, characters of text per entry)
SIZES: Final = ((0.6, 10, 400), (0.3, 30, 1_150), (0.1, 100, 1_550))
_ENGLISH: Final = (
    "a river that the map forgot kept its own calendar and nobody minded because bread was warm under the bridge where"
    " old letters slept while seven lanterns counted boats along the quiet northern harbour until morning came again"
).split()
_JAPANESE: Final = (
    "川沿いの道を",
    "静かに歩いて",
    "古い地図の",
    "名前を読む。",
    "朝の市場で",
    "焼きたての",
    "パンを買い、",
    "橋の下で",
    "手紙を開く。",
)


def write_corpus(folder: Path, *, seed: int = SEED) -> list[Path]:
    """Make the files; their paths."""
    dice = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    return [write(folder / f"feed{number:03}.xml", document(number, dice)) for number in range(FILES)]


def write(path: Path, body: bytes) -> Path:
    """Write a file and its gzip form."""
    path.write_bytes(body)
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(body, 6, mtime=0))
    return path


def document(number: int, dice: random.Random, *, more: int = 0) -> bytes:
    """One feed; `more` adds that many newer entries in front."""
    entries, chars = _size(number)
    is_japanese = number % 4 == 3
    is_atom = number % 5 == 4
    items = [_entry(number, n, chars, dice, is_japanese=is_japanese, is_atom=is_atom) for n in range(-more, entries)]
    title = f"Feed {number}" if not is_japanese else f"フィード{number}"
    if is_atom:
        head = (
            '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
            f"<title>{title}</title><id>tag:bench.example,2026:{number}</id>"
            f'<link href="https://bench.example/{number}/"/><updated>{NEWEST_AT.isoformat()}</updated>\n'
        )
        return (head + "\n".join(items) + "\n</feed>\n").encode()
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
        f"<title>{title}</title><link>https://bench.example/{number}/</link><description>{title}</description>\n"
    )
    return (head + "\n".join(items) + "\n</channel></rss>\n").encode()


def _size(number: int) -> tuple[int, int]:
    place = number % 10
    for share, entries, chars in SIZES:
        place -= round(share * 10)
        if place < 0:
            return entries, chars
    raise AssertionError("the shares add up to one")


def _entry(number: int, n: int, chars: int, dice: random.Random, *, is_japanese: bool, is_atom: bool) -> str:
    posted_at = NEWEST_AT - timedelta(hours=9 * n)
    link = f"https://bench.example/{number}/{n}.html"
    title = f"{_words(24, dice, is_japanese=is_japanese)} {n}"
    html = _html(chars, dice, is_japanese=is_japanese)
    if is_atom:
        return (
            f'<entry><title>{title}</title><link href="{link}"/><id>{link}</id><published>{posted_at.isoformat()}'
            f"</published><updated>{posted_at.isoformat()}</updated><author><name>A. Writer</name></author>"
            f'<category term="t{n % 7}"/><content type="html">{escape(html)}</content></entry>'
        )
    return (
        f"<item><title>{title}</title><link>{link}</link><guid>{link}</guid>"
        f"<pubDate>{format_datetime(posted_at, usegmt=True)}</pubDate><dc:creator>A. Writer</dc:creator>"
        f"<category>t{n % 7}</category><description>{escape(_words(120, dice, is_japanese=is_japanese))}</description>"
        f"<content:encoded><![CDATA[{html}]]></content:encoded></item>"
    )


def _html(chars: int, dice: random.Random, *, is_japanese: bool) -> str:
    """Paragraphs with a link, emphasis, a picture and a list, about `chars` bytes of UTF-8."""
    parts = ['<p><img src="/img/1.jpg" alt="" width="640" height="480"></p>']
    left = chars // 3 if is_japanese else chars
    while left > 0:
        words = _words(min(left, 300), dice, is_japanese=is_japanese)
        parts.append(f'<p>{words} <a href="/more/{left}">{words[:12]}</a> <em>{words[-8:]}</em></p>')
        left -= 300
    parts.append("<ul><li>one</li><li>two</li></ul>")
    return "\n".join(parts)


def _words(chars: int, dice: random.Random, *, is_japanese: bool) -> str:
    words: list[str] = []
    length = 0
    while length < chars:
        word = dice.choice(_JAPANESE if is_japanese else _ENGLISH)
        words.append(word)
        length += len(word) + (not is_japanese)
    return ("" if is_japanese else " ").join(words)
