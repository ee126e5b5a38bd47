"""Whether a store answers, asked directly: the proof that it hangs or is dead."""

import socket
import struct

# Whether the server speaks TLS: PostgreSQL answers that with a byte, before anybody signs in.
POSTGRES_QUESTION = struct.pack("!ii", 8, 80877103)
REDIS_QUESTION = b"PING\r\n"
_WITHIN_S = 0.5


def is_heard(path: str, question: bytes) -> bool:
    """`path`: of the store's socket."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(_WITHIN_S)
        try:
            asked.connect(path)
            asked.sendall(question)
            return bool(asked.recv(1))
        except OSError:
            return False
