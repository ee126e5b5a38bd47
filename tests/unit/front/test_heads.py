"""The heads of requests: what a front and a web server could read in two ways is refused."""

import pytest

from web.front.heads import BadHead, as_last, parse_head

HEAD = b"GET /api/v1/streaming/user HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"


def head(*lines, request=b"GET / HTTP/1.1"):
    return parse_head(b"\r\n".join([request, *lines, b"", b""]))


@pytest.mark.parametrize(
    ("value", "host"),
    [
        (b"Shop.Example.org:8000", "shop.example.org"),
        (b"shop.example.org.", "shop.example.org"),
        (b"[::1]:8000", "[::1]"),
        (b"", ""),
    ],
)
def test_the_host_has_no_port_and_small_letters(value, host):
    assert head(b"Host: " + value).host == host


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (b"Host: a", b"host: b"),
        (b"Host : a",),
        (b"Host: \xc3\xa4",),
        (b"Host: a", b" folded"),
        (b"Host: a", b"Content-Length: 1", b"Content-Length: 2"),
        (b"Host: a", b"Content-Length: -1"),
        (b"Host: a", b"Content-Length: 1", b"Transfer-Encoding: chunked"),
        (b"Host: a", b"Transfer-Encoding: gzip, chunked"),
        (b"Host: a", b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    ],
)
def test_what_is_not_clear_is_refused(lines):
    with pytest.raises(BadHead):
        head(*lines)


def test_a_request_line_has_three_words():
    with pytest.raises(BadHead):
        head(b"Host: a", request=b"GET /")


def test_the_length_of_the_body():
    assert head(b"Host: a").length == 0
    assert head(b"Host: a", b"Content-Length: 12").length == 12
    assert head(b"Host: a", b"Transfer-Encoding: Chunked").length is None


def test_only_paths_of_streams_are_streams():
    def is_of_streams(target):
        return head(b"Host: a", request=b"GET " + target + b" HTTP/1.1").is_of_streams

    assert is_of_streams(b"/api/v1/streaming")
    assert is_of_streams(b"/api/v1/streaming?access_token=x")
    assert is_of_streams(b"/api/v1/streaming/user")
    assert not is_of_streams(b"/api/v1/streaming_of_others")
    assert not is_of_streams(b"/?/api/v1/streaming")


def test_a_stream_is_the_last_request_of_its_connection():
    assert as_last(HEAD).endswith(b"\r\nConnection: close\r\n\r\n")
    assert b"keep-alive" not in as_last(HEAD)
    upgrading = HEAD.replace(b"keep-alive", b"Upgrade\r\nUpgrade: websocket")
    assert as_last(upgrading) == upgrading
