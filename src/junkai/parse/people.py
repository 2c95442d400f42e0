"""Elements and texts that name people in; Persons out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from lxml.etree import _Element as Element

from junkai.document import Person
from junkai.parse.raw import AUTHORS_MAX
from junkai.parse.tree import Tree, text_in

_EMAIL: Final = r"[^\s@()<>,:]{1,64}@[^\s@()<>,]{1,255}"
#: `mail@host (Name)`, as RSS wants it, and `Name <mail@host>`, as many write it.
_EMAIL_AND_NAME: Final = re.compile(rf"(?:mailto:)?(?P<email>{_EMAIL})\s*\((?P<name>[^)]*)\)?")
_NAME_AND_EMAIL: Final = re.compile(rf"(?P<name>[^<(@]*[^<(@\s])\s*[<(](?:mailto:)?(?P<email>{_EMAIL})[>)]")
_ONLY_EMAIL: Final = re.compile(rf"(?:mailto:)?({_EMAIL})")
_NAME_CHARS_MAX: Final = 1_000
_KNOWN_CHARS_MAX: Final = 200


def person_from(text: str) -> Person | None:
    """The person that an RSS `author`, `dc:creator` or `managingEditor` names."""
    return _known_person(text) if len(text) <= _KNOWN_CHARS_MAX else _read_person(text)


def _read_person(text: str) -> Person | None:
    text = " ".join(text.split())[:_NAME_CHARS_MAX]
    if not text:
        return None
    if "@" in text:
        if match := _EMAIL_AND_NAME.fullmatch(text) or _NAME_AND_EMAIL.fullmatch(text):
            return Person(name=match["name"].strip(" \"'"), email=match["email"])
        if match := _ONLY_EMAIL.fullmatch(text):
            return Person(email=match[1])
    return Person(name=text)


#: The entries of a feed mostly share their authors.
_known_person: Final = lru_cache(maxsize=1_024)(_read_person)


def person_of(element: Element, tree: Tree) -> Person | None:
    """The person of an Atom person construct (RFC 4287 §3.2), or of an element that holds just a text."""
    if not len(element):
        return person_from(element.text or "")
    fields = tree.fields(element)
    name = fields.text("name", "atom:name", "foaf:name", "itunes:name")[:_NAME_CHARS_MAX]
    email = fields.text("email", "atom:email", "itunes:email")[:_NAME_CHARS_MAX]
    uri = fields.text("uri", "url", "atom:uri", "homepage")[:_NAME_CHARS_MAX]
    if not (name or email or uri):
        return person_from(text_in(element))
    return Person(name=" ".join(name.split()), email=email, uri=uri)


def distinct(people: list[Person | None]) -> list[Person]:
    """The people, each once, in order."""
    if len(people) <= 1:
        return [person for person in people if person is not None]
    return list(dict.fromkeys([person for person in people if person is not None]))[:AUTHORS_MAX]
