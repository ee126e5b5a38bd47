"""The slots of a Redis Cluster: which slot a command belongs to.

A cluster has 16,384 slots. The slot of a key is a checksum of the key, or of the part in braces, so
keys with the same part in braces are on one node.
"""

from binascii import crc_hqx

from infra.caching.decoding import SCRIPT_CALLS
from infra.evidence import Command, parts_of

SLOTS = 16_384
# The slot of a command without a key: any node may have it.
ANY_SLOT = -1


def slot_of(command: Command) -> int:
    """The key follows the command's name, except in scripts.

    Of a packed command the first braces count, in half a microsecond: the owner of a key is in
    braces (keys.py). Should they belong to what follows the key, the node names the right one.
    """
    if isinstance(command, bytes):
        begin = command.find(b"{") + 1
        end = command.find(b"}", begin) if begin else 0
        if end > begin:
            return crc_hqx(command[begin:end], 0) % SLOTS
    parts = parts_of(command)
    place = 3 if parts[0] in SCRIPT_CALLS else 1
    if len(parts) <= place:
        return ANY_SLOT
    key = parts[place]
    return slot_of_key(key if type(key) is bytes else str(key).encode())


def slot_of_key(key: bytes) -> int:
    """As `CLUSTER KEYSLOT`."""
    begin = key.find(b"{") + 1
    if begin:
        end = key.find(b"}", begin)
        if end > begin:
            key = key[begin:end]
    return crc_hqx(key, 0) % SLOTS
