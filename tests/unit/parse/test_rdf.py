"""RSS 1.0 and 0.90: RDF."""

from __future__ import annotations

import pytest

from junkai.parse import parse_document


@pytest.mark.parametrize(
    ("namespace", "version"),
    [("http://purl.org/rss/1.0/", "1.0"), ("http://my.netscape.com/rdf/simple/0.9/", "0.90")],
)
def test_items_stand_beside_the_channel_and_about_is_their_id(namespace: str, version: str) -> None:
    body = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{namespace}"
      xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="ja">
      <channel rdf:about="https://a.example/"><title>f</title><link>https://a.example/</link>
        <items><rdf:Seq><rdf:li rdf:resource="https://a.example/1"/></rdf:Seq></items></channel>
      <image><url>/i.png</url></image>
      <item rdf:about="urn:1"><title>t</title><link>/1</link><dc:date>2026-05-04T09:00+09:00</dc:date></item>
    </rdf:RDF>"""
    document = parse_document(body.encode(), url="https://a.example/feed.rdf")
    entry = document.entries[0]

    assert ("rdf", version, "f", "ja") == (document.format, document.version, document.title, document.language)
    assert ("https://a.example/", "https://a.example/i.png") == (document.site_url, document.icon_url)
    assert ("urn:1", "https://a.example/1", "t") == (entry.id, entry.url, entry.title)
    assert entry.published_at is not None
    assert "2026-05-04T00:00:00+00:00" == entry.published_at.isoformat()
