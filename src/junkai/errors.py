"""What can go wrong, as one tree; an error's subject (a URL, a file, a setting) goes in, one plain line comes out.

::

    JunkaiError                     subject
    ├── UsageError                  the caller asked for something that cannot be done (exit 2)
    │   ├── SettingsError           a setting: unknown key or bad value
    │   ├── UrlError                a URL: not a URL, or a scheme we refuse
    │   │   └── BlockedError        a URL or address on a block list, or on a network that is not allowed
    │   ├── UnknownSourceError      a URL that is not in the store
    │   └── OpmlError               an OPML file that cannot be read
    ├── StoreError                  the store: cannot be opened, read or written (exit 1)
    │   ├── StoreBusyError          another process crawls on it, or holds its lock too long
    │   ├── StoreFullError          no room on the disk, or read-only
    │   └── StoreVersionError       made by a newer version of Junkai
    ├── FetchError                  one exchange failed: kind says how
    └── NotADocumentError           the bytes are not a feed at all

An *expected* answer of a site (not modified, gone, rate limited, redirected) is a value, never one of these.
A class's docstring is its default message.
"""

from __future__ import annotations

from enum import StrEnum


class JunkaiError(Exception):
    """Something went wrong"""

    def __init__(self, subject: str, detail: str = "") -> None:
        self.subject = subject
        self.detail = detail
        super().__init__(subject, detail)

    def __str__(self) -> str:
        return f"{self.subject}: {self.detail or self.__doc__}"


class UsageError(JunkaiError):
    """That cannot be done"""


class SettingsError(UsageError):
    """Not a setting, or not a value for it"""


class UrlError(UsageError):
    """Not a URL that Junkai can visit; give an http:// or https:// address"""


class BlockedError(UrlError):
    """Blocked: the address is on a block list, or on a network that is not allowed"""


class UnknownSourceError(UsageError):
    """No such source in the store; `junkai feeds` lists them"""


class OpmlError(UsageError):
    """Not an OPML file"""


class StoreError(JunkaiError):
    """The store failed"""


class StoreBusyError(StoreError):
    """Another process is using the store"""


class StoreFullError(StoreError):
    """The store cannot be written: the disk is full or read-only"""


class StoreVersionError(StoreError):
    """The store was made by a newer version of Junkai; upgrade Junkai to open it"""


class FailureKind(StrEnum):
    """How a visit failed: the words that lists, logs and metrics use."""

    DNS_TEMPORARY = "dns_temporary"  #: SERVFAIL or a time-out: our failure, not the site's
    DNS_UNKNOWN = "dns_unknown"  #: the name does not exist
    BLOCKED = "blocked"  #: the address guard or the block list said no
    CONNECT = "connect"  #: refused, unreachable, reset before any answer
    TLS = "tls"
    DEADLINE = "deadline"  #: the whole exchange took too long, or dripped below the least rate
    TOO_LARGE = "too_large"  #: over `body_bytes_max` decoded bytes, or header or URL bounds
    INCOMPLETE = "incomplete"  #: Content-Length or chunked framing cut short
    PROTOCOL = "protocol"  #: not HTTP, or a broken coding
    REDIRECTS = "redirects"  #: a loop, too many hops, no Location, or a refused downgrade
    NOT_FOUND = "not_found"  #: 404
    FORBIDDEN = "forbidden"  #: 401, 403, 407
    STATUS = "status"  #: any other status that is not an answer
    NOT_A_DOCUMENT = "not_a_document"  #: 200, complete, and no feed
    EMPTY = "empty"  #: 200 without a body
    INTERNAL = "internal"  #: a fault of our own


class FetchError(JunkaiError):
    """The exchange failed"""

    def __init__(self, subject: str, kind: FailureKind, detail: str = "") -> None:
        super().__init__(subject, detail)
        self.kind = kind


class NotADocumentError(JunkaiError):
    """Not a feed"""
