"""Public addresses, against the entries of IANA's registries of special-purpose addresses."""

from ipaddress import ip_network

import pytest

from infra.outgoing.addresses import is_endpoint, is_public

# All blocks of both registries that are not globally reachable, or only in part, and what the
# registries of multicast and of the address space add.
NOT_PUBLIC = """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.88.99.0/24
192.88.99.2/32 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
255.255.255.255/32 224.0.0.0/4
::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23
2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 3fff::/20
5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 ::/96 ::ffff:0:0:0/96 4000::/3 e000::/4
"""
PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.0 169.253.255.255
172.15.255.255 172.32.0.0 192.0.1.0 192.31.196.1 192.52.193.1 192.175.48.1 198.17.255.255 198.20.0.0
223.255.255.255 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700::1111 2620:4f:8000::1 2a00::1
3ffe:ffff::1
"""


@pytest.mark.parametrize("block", NOT_PUBLIC.split())
def test_no_address_of_a_special_block_is_public(block: str) -> None:
    network = ip_network(block)
    middle = network[network.num_addresses // 2]
    assert not any(is_public(str(one)) for one in (network[0], middle, network[-1]))


@pytest.mark.parametrize("ip", PUBLIC.split())
def test_addresses_that_were_given_out_are_public(ip: str) -> None:
    assert is_public(ip)


@pytest.mark.parametrize(
    "ip",
    [
        "::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
        "2a00::1%eth0", "push.example", "", "0x7f.1", "2130706433",
    ],
)  # fmt: skip
def test_other_forms_of_an_address_are_not(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize(
    ("endpoint", "is_allowed"),
    [
        ("https://push.example/x", True),
        ("https://push.example:443/x", True),
        ("https://push.example:8443/x", True),
        ("https://push.example:1024/x", True),
        ("https://push.example:0/x", False),
        ("https://push.example:25/x", False),
        ("https://push.example:80/x", False),
        ("https://push.example:1023/x", False),
        ("https://push.example:65536/x", False),
        ("http://push.example/x", False),
        ("https://8.8.8.8/x", True),
        ("https://10.0.0.1/x", False),
        ("https://[64:ff9b::a00:1]/x", False),
        ("https://[2a00::1]/x", True),
    ],
)
def test_endpoints_that_a_client_may_register(settings, endpoint: str, is_allowed: bool) -> None:
    settings.PUSH_PRIVATE_ADDRESSES = False
    assert is_endpoint(endpoint) is is_allowed
