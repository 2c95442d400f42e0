"""The tree of an RSS 1.0 or 0.90 document (root `rdf:RDF`) in; a raw feed out."""

from __future__ import annotations

from junkai.parse.raw import RawFeed
from junkai.parse.rss import read_channel
from junkai.parse.tree import Tree

_NETSCAPE = "netscape.com/rdf/simple/0.9"


def read_rdf(tree: Tree) -> RawFeed:
    """Read a document whose root is RDF: items stand beside the channel, and `rdf:about` is their id."""
    is_netscape = any(_NETSCAPE in (namespace or "") for namespace in tree.root.nsmap.values())
    return read_channel(tree, format_name="rdf", version="0.90" if is_netscape else "1.0")
