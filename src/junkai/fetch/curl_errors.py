"""libcurl's error codes in; kinds of failure out."""

from __future__ import annotations

from typing import Final

from junkai.errors import FailureKind

#: CURLE_* by number (libcurl-errors(3)); pycurl has no names for the newer ones.
_KINDS: Final = {
    1: FailureKind.PROTOCOL,  # UNSUPPORTED_PROTOCOL: what came back is not HTTP
    3: FailureKind.PROTOCOL,  # URL_MALFORMAT: a host name that libcurl refuses
    5: FailureKind.CONNECT,  # COULDNT_RESOLVE_PROXY
    6: FailureKind.DNS_TEMPORARY,  # COULDNT_RESOLVE_HOST: not asked of libcurl
    7: FailureKind.CONNECT,  # COULDNT_CONNECT
    8: FailureKind.PROTOCOL,  # WEIRD_SERVER_REPLY
    16: FailureKind.PROTOCOL,  # HTTP2
    18: FailureKind.INCOMPLETE,  # PARTIAL_FILE
    28: FailureKind.DEADLINE,  # OPERATION_TIMEDOUT
    35: FailureKind.TLS,  # SSL_CONNECT_ERROR
    45: FailureKind.CONNECT,  # INTERFACE_FAILED
    52: FailureKind.CONNECT,  # GOT_NOTHING: closed before any answer
    55: FailureKind.CONNECT,  # SEND_ERROR
    56: FailureKind.CONNECT,  # RECV_ERROR
    59: FailureKind.TLS,  # SSL_CIPHER
    60: FailureKind.TLS,  # PEER_FAILED_VERIFICATION
    61: FailureKind.PROTOCOL,  # BAD_CONTENT_ENCODING: a transfer coding that nobody asked for
    63: FailureKind.TOO_LARGE,  # FILESIZE_EXCEEDED
    80: FailureKind.TLS,  # SSL_SHUTDOWN_FAILED
    83: FailureKind.TLS,  # SSL_ISSUER_ERROR
    90: FailureKind.TLS,  # SSL_PINNEDPUBKEYNOTMATCH
    91: FailureKind.TLS,  # SSL_INVALIDCERTSTATUS
    92: FailureKind.PROTOCOL,  # HTTP2_STREAM
    96: FailureKind.PROTOCOL,  # QUIC_CONNECT_ERROR
    97: FailureKind.CONNECT,  # PROXY
    98: FailureKind.TLS,  # SSL_CLIENTCERT
    100: FailureKind.TOO_LARGE,  # TOO_LARGE: of header lines
}
#: What cuts an answer short once its head is there.
_CUT: Final = frozenset({16, 18, 55, 56, 92})
#: What can end an attempt to connect.
_CONNECT: Final = frozenset({5, 7, 28, 45, 97})


def kind_of(code: int, *, has_head: bool) -> FailureKind:
    """The kind of failure; INTERNAL for codes that only a fault of our own brings about."""
    if has_head and code in _CUT:
        return FailureKind.INCOMPLETE
    return _KINDS.get(code, FailureKind.INTERNAL)


def is_connect(code: int) -> bool:
    """True for codes that, before anything was sent, mean that no connection was made."""
    return code in _CONNECT
