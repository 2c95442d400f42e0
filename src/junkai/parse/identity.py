"""Raw entries and what is known of a feed in; each entry's id, the hashes of both id and content, out.

An id is the guid, `atom:id` or JSON id; else the canonical link; else a fingerprint. Ids that repeat inside one
document are made distinct. What `known` holds stays what it was: an entry that repeats no longer, or has come to
repeat, is not a new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from junkai import url as urls
from junkai.document import IdSource
from junkai.errors import UrlError
from junkai.parse.raw import Markup, RawEntry

ID_HASH_BYTES: Final = 16
CONTENT_HASH_BYTES: Final = 8
KNOWN_ENTRY_BYTES: Final = 16
#: Of an id as it is shown and stored; its hash is over all of it.
ID_CHARS_MAX: Final = 4_000

#: Cannot stand in XML, and is not let in from JSON: so that no two sets of fields look alike.
_BETWEEN: Final = "\x1f"


class Identity(msgspec.Struct, frozen=True, gc=False):
    """Who an entry is, and what it says."""

    id: str
    source: IdSource
    id_hash: bytes
    content_hash: bytes
    known: bytes  #: its 16 bytes of `Document.known`


def _identity(own_id: str, source: IdSource, content_hash: bytes) -> Identity:
    id_hash = hash_of_id(own_id)
    shown = own_id if len(own_id) <= ID_CHARS_MAX else _cut(own_id, id_hash)
    return Identity(shown, source, id_hash, content_hash, id_hash[:8] + content_hash)


class _Known:
    """`Document.known` of the last accepted document, to be looked up."""

    def __init__(self, known: bytes) -> None:
        self.pairs = {known[at : at + KNOWN_ENTRY_BYTES] for at in range(0, len(known), KNOWN_ENTRY_BYTES)}
        self.ids = {pair[:8] for pair in self.pairs}


def identify(
    entries: Sequence[RawEntry], *, link_of: Callable[[RawEntry], str | None], known: bytes = b""
) -> list[Identity]:
    """The identities of all entries of a document, in order. `link_of` gives an entry's absolute link."""
    held = _Known(known)
    plain = [_plain_id(entry, link_of) for entry in entries]
    counts = Counter([own_id for own_id, _ in plain])
    pairs: Counter[tuple[str, str | None]] = Counter()
    if len(counts) < len(entries):
        pairs.update(
            (own_id, link_of(entry)) for entry, (own_id, _) in zip(entries, plain, strict=True) if counts[own_id] > 1
        )
    identities = []
    for entry, (own_id, source) in zip(entries, plain, strict=True):
        content_hash = hash_of_content(entry)
        simple = _identity(own_id, source, content_hash)
        if simple.known in held.pairs:
            identities.append(simple)
        elif counts[own_id] > 1:
            identities.append(
                _composite(entry, own_id, content_hash, link_of, is_link_shared=pairs[own_id, link_of(entry)] > 1)
            )
        elif held.ids and simple.id_hash[:8] not in held.ids:
            identities.append(_once_composite(entry, simple, own_id, link_of, held) or simple)
        else:
            identities.append(simple)
    return identities


def _plain_id(entry: RawEntry, link_of: Callable[[RawEntry], str | None]) -> tuple[str, IdSource]:
    if entry.id:
        return entry.id, IdSource.ID
    link = link_of(entry)
    if link is not None:
        try:
            return urls.canonical(link), IdSource.LINK
        except UrlError:
            return link, IdSource.LINK
    return fingerprint(entry), IdSource.FINGERPRINT


def _composite(
    entry: RawEntry,
    own_id: str,
    content_hash: bytes,
    link_of: Callable[[RawEntry], str | None],
    *,
    is_link_shared: bool,
) -> Identity:
    """The id with the link, or with the fingerprint where the link does not tell entries apart either."""
    link = link_of(entry)
    mark = fingerprint(entry) if link is None or is_link_shared else link
    return _identity(f"{own_id} {mark}", IdSource.COMPOSITE, content_hash)


def _once_composite(
    entry: RawEntry,
    simple: Identity,
    own_id: str,
    link_of: Callable[[RawEntry], str | None],
    held: _Known,
) -> Identity | None:
    """The identity that the entry had while its id still repeated, if it is known under one."""
    for is_link_shared in (False, True):
        composite = _composite(entry, own_id, simple.content_hash, link_of, is_link_shared=is_link_shared)
        if composite.id_hash[:8] in held.ids:
            return composite
    return None


def fingerprint(entry: RawEntry) -> str:
    """A hash of title, date and content, in hexadecimal."""
    body = entry.content or entry.summary
    fields = [_value(entry.title).strip(), entry.published or entry.updated, _value(body).strip()]
    return _digest(fields, size=ID_HASH_BYTES).hex()


def _cut(entry_id: str, id_hash: bytes) -> str:
    """A long id as it is shown: it ends in its hash, so that two that begin alike stay two."""
    mark = f"…{id_hash.hex()}"
    return entry_id[: ID_CHARS_MAX - len(mark)] + mark


def hash_of_id(entry_id: str) -> bytes:
    """16 bytes over the whole id."""
    return blake2b(entry_id.encode(), digest_size=ID_HASH_BYTES).digest()


def hash_of_content(entry: RawEntry) -> bytes:
    """8 bytes over what a reader would see, as it was written: before sanitising, and without what varies by itself.

    Dates are left out, since some feeds date every entry "now", and so are the queries of URLs, where tokens ride.
    """
    fields = [
        _value(entry.title),
        _value(entry.content),
        _value(entry.summary),
        entry.links[0].href.partition("?")[0] if entry.links else "",
    ]
    fields += [f"{person.name} {person.email} {person.uri}" for person in entry.authors]
    fields.append("")
    fields += [category.term for category in entry.categories]
    fields.append("")
    fields += [enclosure.reference.href.partition("?")[0] for enclosure in entry.enclosures]
    return _digest(fields, size=CONTENT_HASH_BYTES)


def _value(markup: Markup | None) -> str:
    return "" if markup is None else markup.value


def _digest(fields: list[str], *, size: int) -> bytes:
    return blake2b(_BETWEEN.join(fields).encode(), digest_size=size).digest()
