"""Which IP addresses are public, by IANA's registries of special-purpose addresses.

The table is our own, because that of Python's `ipaddress` changes between patches of one release.
https://www.iana.org/assignments/iana-ipv4-special-registry and …-ipv6-special-registry
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

# Blocks with a purpose of their own in the protocol (192.0.0.0/24, 2001::/23, 6to4) also count as
# not public where the registry calls a part of them reachable: no push service is there.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
# IANA gives networks out of this block only. What is outside is special: NAT64, IPv4-mapped,
# -compatible and -translated addresses, unique local, link-local, site-local, multicast.
_GIVEN_OUT_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


def is_public(ip: str) -> bool:
    """Whether the address may belong to a server of others. False for a text that is no address.

    No address that has an IPv4 address inside is public: a gateway could lead to that address.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None or address not in _GIVEN_OUT_6:
        return False
    return not any(address in network for network in _NOT_PUBLIC_6)


def is_address(host: str) -> bool:
    """Whether the text is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
