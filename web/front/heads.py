"""The head of an HTTP request, as far as a front must understand it."""

from typing import NamedTuple

END = b"\r\n\r\n"
MOST_HEAD_BYTES = 64 * 1024
STREAMS = b"/api/v1/streaming"


class BadHead(ValueError):
    """A web server and its front could read such a head in two ways."""


class Head(NamedTuple):
    """`host`: without a port, in small letters. `length`: of the body; None: it is chunked.

    `is_of_browser`: it asks for a page.
    """

    raw: bytes
    method: bytes
    target: bytes
    host: str
    length: int | None
    is_of_browser: bool

    @property
    def is_of_streams(self) -> bool:
        path = self.target.partition(b"?")[0]
        return path == STREAMS or path.startswith(STREAMS + b"/")


def parse_head(raw: bytes) -> Head:
    """Raises: BadHead."""
    request, *lines = raw.removesuffix(END).split(b"\r\n")
    words = request.split(b" ")
    if len(words) != 3:
        raise BadHead("the request line needs three words")
    fields = [_field(line) for line in lines]
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) != 1:
        raise BadHead("it needs one Host")
    is_of_browser = any(name == b"accept" and b"text/html" in value for name, value in fields)
    return Head(raw, words[0], words[1], host_of(hosts[0]), _length(fields), is_of_browser)


def host_of(value: bytes) -> str:
    """`feed.example.org` of `Feed.Example.org:8000`. Raises: BadHead."""
    try:
        text = value.decode("ascii").lower()
    except UnicodeDecodeError:
        raise BadHead("its Host is not ASCII") from None
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text.partition(":")[0].rstrip(".")


def as_last(head: bytes) -> bytes:
    """The head of a request after which the client asks for nothing else on the connection."""
    lines = head.removesuffix(END).split(b"\r\n")
    if any(line.lower().startswith(b"upgrade:") for line in lines):
        return head
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*kept, b"Connection: close"]) + END


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not name or name != name.strip():
        raise BadHead("a field needs a name and a colon")
    return name.lower(), value.strip()


def _length(fields: list[tuple[bytes, bytes]]) -> int | None:
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    if codings:
        if lengths or codings != [b"chunked"]:
            raise BadHead("the length of its body is not clear")
        return None
    if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
        raise BadHead("the length of its body is not clear")
    return int(lengths[0]) if lengths else 0
