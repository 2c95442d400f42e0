"""Which URLs and addresses may be asked."""

from __future__ import annotations

import pytest

from junkai import url as urls
from junkai.config import Settings
from junkai.errors import BlockedError, SettingsError
from junkai.fetch.guard import Guard, literal_of

BLOCKED = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254
    172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1
    2001::1 2001:10::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254
    fe80::1 fec0::1 ff02::1 fe80::1%eth0 1.2.3 nonsense 1.2.3.4.5
""".split()
PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 172.15.255.255
    172.32.0.0 192.0.1.1 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15
    2001:4860:4860::8888 2600:: 2a00:1450::1 3ffe::1 64:ff9b::8.8.8.8
""".split()


def guard_with(*, allow_networks: tuple[str, ...] = (), block: tuple[str, ...] = ()) -> Guard:
    return Guard(Settings(allow_networks=allow_networks, block=block))


@pytest.mark.parametrize("address", BLOCKED)
def test_what_is_not_public_is_blocked(address: str) -> None:
    assert () == guard_with().checked([address])
    assert guard_with().why_not(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_may_be_asked(address: str) -> None:
    assert (address,) == guard_with().checked([address])


def test_the_good_ones_of_several_addresses_stay_in_order() -> None:
    assert ("8.8.8.8", "2600::1") == guard_with().checked(["10.0.0.1", "8.8.8.8", "::1", "2600::1"])


def test_the_operator_allows_networks_and_only_those() -> None:
    guard = guard_with(allow_networks=("127.0.0.0/8", "fd00::/16", "10.1.2.3"))

    assert ("127.0.0.1", "fd00::1", "10.1.2.3") == guard.checked(
        ["127.0.0.1", "fd00::1", "fd01::1", "10.1.2.3", "10.1.2.4", "::1", "::ffff:127.0.0.1"]
    )
    assert [True, False, False] == [guard.is_allowed_network(each) for each in ("127.9.9.9", "8.8.8.8", "nonsense")]


def test_a_blocked_network_stays_blocked_even_where_it_is_allowed() -> None:
    guard = guard_with(block=("8.8.0.0/16", "127.0.0.2", "2600::/16"), allow_networks=("127.0.0.0/8",))

    assert ("127.0.0.1", "8.9.0.1") == guard.checked(["127.0.0.1", "127.0.0.2", "8.8.8.8", "8.9.0.1", "2600::1"])


def test_nested_networks_are_one() -> None:
    guard = guard_with(block=("8.8.8.0/24", "8.0.0.0/8", "8.8.8.8"))

    assert ("7.255.255.255", "9.0.0.0") == guard.checked(["7.255.255.255", "8.0.0.0", "8.8.8.8", "8.9.1.1", "9.0.0.0"])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://１２７.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0::127.0.0.1]/",
        "https://169.254.169.254/latest",
        "http://0/",
    ],
)
def test_an_ip_literal_is_blocked_in_any_spelling(url: str) -> None:
    with pytest.raises(BlockedError) as caught:
        guard_with().check_url(urls.parse(url))

    assert urls.parse(url).verbatim == caught.value.subject
    assert "may not be visited" in caught.value.detail


@pytest.mark.parametrize(
    ("entry", "blocked", "free"),
    [
        ("a.example", ["http://a.example/", "https://A.EXAMPLE:8443/x"], ["http://b.a.example/", "http://aa.example/"]),
        ("a.example:8080", ["http://a.example:8080/"], ["http://a.example/"]),
        ("*.a.example", ["http://a.example/", "http://x.y.a.example/", "http://x.a.example./"], ["http://aa.example/"]),
        ("*.bücher.example", ["http://x.xn--bcher-kva.example/"], ["http://example/"]),
        ("8.8.8.8", ["http://8.8.8.8/", "http://0x08080808/"], ["http://8.8.8.9/"]),
    ],
)
def test_the_block_list_names_hosts_domains_and_networks(entry: str, blocked: list[str], free: list[str]) -> None:
    guard = guard_with(block=(entry,))

    for url in blocked:
        with pytest.raises(BlockedError):
            guard.check_url(url)
    for url in free:
        guard.check_url(url)


def test_a_block_that_is_nothing_is_a_settings_error() -> None:
    with pytest.raises(SettingsError):
        guard_with(block=("not a host",))


def test_a_name_is_no_literal_though_it_ends_in_a_digit() -> None:
    assert [None, None, "1.2.3.4", "::1"] == [literal_of(each) for each in ("a1", "x.a1", "1.2.3.4", "[::1]")]
