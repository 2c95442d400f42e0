"""Text that is not well-formed XML in; text that is much nearer to it, and what was done, out.

One linear pass over tags, references and sections: what cannot be markup becomes text, entities of HTML become
characters, tags are closed in order. The recovering parser then has little left to guess.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from html.entities import html5
from typing import Final

from junkai.document import Problem
from junkai.errors import NotADocumentError

#: Tags and ampersands to look at: some 0.5 s. A broken document of more is refused.
TOKENS_MAX: Final = 400_000

#: No character of XML (XML 1.0 §2.2), lone surrogates included.
_ILLEGAL: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE: Final = (
    r"&(?:\#(?P<decimal>[0-9]{1,7});|\#[xX](?P<hexadecimal>[0-9a-fA-F]{1,6});|(?P<entity>[A-Za-z][\w.-]{0,31});)?"
)
_REFERENCES: Final = re.compile(_REFERENCE, re.VERBOSE)
#: Each alternative ends at the next "<", or where the text ends: no character is looked at more than twice.
_TOKEN: Final = re.compile(
    rf"""
    (?P<cdata><!\[CDATA\[.*?(?:(?P<cdata_end>\]\]>)|\Z))
  | (?P<comment><!--.*?(?:-->|\Z)|<\?[^<>]*+\?>)
  | <(?P<end>/?)(?P<name>[A-Za-z_:\u00c0-\ud7ff][\w:.-]*+)
     (?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+)>
  | (?P<bare><|\]\]>)
  | {_REFERENCE}
    """,
    re.VERBOSE | re.DOTALL,
)
_WELL_FORMED: Final = re.compile(r"""(?:\s++[^\s=/"'<>]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'))*+\s*+/?""")
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"'<>]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'<>]++))?""")
_XML_ENTITIES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
#: HTML elements without an end tag; RSS has none of these names.
_VOID: Final = frozenset("area br col embed hr img input param track wbr".split())
#: These never stand within themselves: one that begins ends the last.
_UNNESTED: Final = frozenset({"item", "entry"})

_MESSAGES: Final = {
    "control_character": "Characters that XML does not allow were left out.",
    "html_entity": "Entities of HTML were put in as characters.",
    "unknown_entity": "A reference to an unknown entity was kept as text.",
    "bare_ampersand": 'An "&" that begins no reference was kept as text.',
    "bare_less_than": 'A "<" that begins no tag was kept as text.',
    "stray_section_end": 'A "]]>" that ends no section was kept as text.',
    "bad_attribute": "Attributes were quoted.",
    "mismatched_tag": "Tags were not closed in order.",
    "truncated": "The document ends before its root element does.",
    "junk_after_root": "What follows the root element was left out.",
}


def repair(text: str, *, entities: Mapping[str, str], url: str) -> tuple[str, list[Problem]]:
    """Repair `text`, which begins with a root element; `entities` are those that it declared.

    Raises NotADocumentError where there is too much of it to repair.
    """
    if text.count("<") + text.count("&") > TOKENS_MAX:
        raise NotADocumentError(url, f"not well-formed, and with more than {TOKENS_MAX:,} tags too large to repair")
    repairing = _Repairing(text, entities)
    return repairing.run(), repairing.problems


class _Repairing:
    """One pass over one text."""

    def __init__(self, text: str, entities: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._entities = entities
        self._seen: set[str] = set()
        self._has_begun = False
        self._stack: list[str] = []
        self._open: Counter[str] = Counter()
        self._parts: list[str] = []

    def run(self) -> str:
        if illegal := _ILLEGAL.search(self._text):
            self._found("control_character", illegal.start())
            self._text = _ILLEGAL.sub("", self._text)
        done = 0
        for match in _TOKEN.finditer(self._text):
            self._parts.append(self._text[done : match.start()])
            done = match.end()
            self._token(match)
            if self._has_begun and not self._stack:
                if self._text[done:].strip():
                    self._junk_after(done)
                return "".join(self._parts)
        self._parts.append(self._text[done:])
        self._found("truncated", len(self._text))
        self._close(len(self._stack))
        return "".join(self._parts)

    def _junk_after(self, done: int) -> None:
        rest = _TOKEN.sub(lambda match: "" if match["comment"] else match[0], self._text[done : done + 10_000])
        if rest.strip():
            self._found("junk_after_root", done)

    def _found(self, code: str, position: int) -> None:
        """Note a problem, once for each code: the first time says where."""
        if code not in self._seen:
            self._seen.add(code)
            line = self._text.count("\n", 0, position) + 1
            self.problems.append(Problem(code=code, message=_MESSAGES[code], line=line))

    def _token(self, match: re.Match[str]) -> None:
        if match["name"] is not None:
            if match["end"]:
                self._end_tag(match)
            else:
                self._start_tag(match)
        elif match["cdata"] is not None:
            self._parts.append(match[0] if match["cdata_end"] else f"{match[0]}]]>")
        elif match["bare"] is not None:
            self._found("bare_less_than" if match[0] == "<" else "stray_section_end", match.start())
            self._parts.append("&lt;" if match[0] == "<" else "]]&gt;")
        elif match["comment"] is None:
            self._parts.append(self._reference(match, match.start()))

    def _start_tag(self, match: re.Match[str]) -> None:
        name, attributes = match["name"], self._attributes(match["attributes"], match.start())
        is_empty = attributes.endswith("/")
        local = name.rpartition(":")[2].lower()
        if local in _UNNESTED and self._open[name]:
            self._found("mismatched_tag", match.start())
            self._close_through(name)
        if not is_empty and local in _VOID:
            self._found("mismatched_tag", match.start())
            attributes, is_empty = f"{attributes}/", True
        self._has_begun = True
        if not is_empty:
            self._stack.append(name)
            self._open[name] += 1
        self._parts.append(f"<{name}{attributes}>")

    def _end_tag(self, match: re.Match[str]) -> None:
        name = match["name"]
        if self._stack and name == self._stack[-1]:
            self._close(1)
            return
        if name.lower() not in _VOID:
            self._found("mismatched_tag", match.start())
        if self._open[name]:
            self._close_through(name)

    def _close_through(self, name: str) -> None:
        """End the innermost element of that name, and all within it."""
        count = 1
        while self._stack[-count] != name:
            count += 1
        self._close(count)

    def _close(self, count: int) -> None:
        for _ in range(count):
            name = self._stack.pop()
            self._open[name] -= 1
            self._parts.append(f"</{name}>")

    def _attributes(self, attributes: str, position: int) -> str:
        if not attributes:
            return attributes
        if not _WELL_FORMED.fullmatch(attributes):
            self._found("bad_attribute", position)
            tail = "/" if attributes.endswith("/") else ""
            found = _ATTRIBUTE.findall(attributes.removesuffix("/"))
            attributes = "".join(f" {name}={_quoted(value or name)}" for name, value in found) + tail
        if "&" in attributes:
            attributes = _REFERENCES.sub(lambda match: self._reference(match, position), attributes)
        return attributes

    def _reference(self, match: re.Match[str], position: int) -> str:
        """What stands for a reference, or for an "&" that begins none."""
        entity, decimal, hexadecimal = match.group("entity", "decimal", "hexadecimal")
        if decimal or hexadecimal:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            if code <= 0x10FFFF and (code in (9, 10, 13) or code > 0x1F) and not _ILLEGAL.match(chr(code)):
                return match[0]
            self._found("control_character", position)
            return ""
        if entity is None:
            self._found("bare_ampersand", position)
            return "&amp;"
        if entity in _XML_ENTITIES:
            return match[0]
        character = self._entities.get(entity) or html5.get(f"{entity};")
        if character is None:
            self._found("unknown_entity", position)
            return f"&amp;{entity};"
        self._found("html_entity", position)
        return html.escape(character)


def _quoted(value: str) -> str:
    return value if value[0] in "\"'" else f'"{value}"'
