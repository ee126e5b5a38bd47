"""deploy/nginx/tideline.conf in front of real web servers: slow and dishonest clients end there."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.processes.free_ports import free_ports
from lab.runner.child import CHECKOUT
from lab.runner.port import is_answering
from tests.nginx import REASON, find_nginx, running_proxy
from tests.waiting import until

TRUSTING = ssl._create_unverified_context()
# The requests of one address, and a few.
MORE_THAN_ALLOWED = 80


@pytest.fixture(scope="module")
def nginx():
    program = find_nginx()
    if program is None:
        pytest.skip(REASON)
    return program


@pytest.fixture(scope="module")
def site(nginx, tmp_path_factory):
    """The proxy's ports, and the files that say what each web server served."""
    folder = tmp_path_factory.mktemp("webs")
    ports, logs = free_ports(2), [folder / "one.log", folder / "two.log"]
    with ExitStack() as stack:
        for port, log in zip(ports, logs, strict=True):
            stack.callback(lambda process: (process.terminate(), process.wait()), web(port, log))
        for port in ports:
            until(lambda port=port: is_answering(port, "/"))
        yield stack.enter_context(running_proxy(nginx, ports)), logs


def web(port: int, log: Path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    argv = [sys.executable, "-m", "tests.small_web", str(port), "1", str(log)]
    with log.open("w") as output:
        return subprocess.Popen(argv, cwd=CHECKOUT, env=environment, stdout=output)


def ask(port, path="/", method="GET", body=None, headers=()):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=TRUSTING)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def send(port, data, context=TRUSTING):
    """A TLS connection on which `data` was sent."""
    opened = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 30))
    opened.sendall(data)
    return opened


def test_the_web_server_sees_the_proxys_word_for_where_a_request_is_from(site):
    proxy, _ = site
    lies = {
        "X-Forwarded-For": "6.6.6.6",
        "X_Forwarded_For": "6.6.6.6",
        "X-Forwarded-Proto": "http",
        "X_Forwarded_Proto": "http",
        "Forwarded": "for=6.6.6.6",
        "X-Forwarded-Host": "evil.example",
    }
    status, _, body = ask(proxy.port, headers=lies)
    seen = json.loads(body)
    assert status == 200
    assert seen["HTTP_X_FORWARDED_FOR"] == "127.0.0.1"
    assert seen["HTTP_X_FORWARDED_PROTO"] == "https"
    assert not {"HTTP_FORWARDED", "HTTP_X_FORWARDED_HOST"} & set(seen)
    assert "6.6.6.6" not in body.decode()


def test_a_body_reaches_the_web_server_only_when_it_is_complete(site):
    proxy, logs = site
    body = b"x" * 50_000
    head = b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
    with send(proxy.port, head + body[:-1]) as slow:
        assert ask(proxy.port, "/quick", "POST", b"text")[0] == 200
        assert not any("/slow" in log.read_text() for log in logs)
        slow.sendall(body[-1:])
        assert slow.recv(100).startswith(b"HTTP/1.1 200 ")
    assert any("/slow" in log.read_text() for log in logs)


def test_a_chunked_body_gets_its_length_from_the_proxy(site):
    proxy, _ = site
    chunked = (
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n"
    )
    with send(proxy.port, chunked) as opened:
        assert opened.recv(100).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow
def test_slow_clients_are_disconnected(site):
    proxy, logs = site
    half_head = b"GET / HTTP/1.1\r\nHost: "
    half_body = b"POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"
    with send(proxy.port, half_head) as one, send(proxy.port, half_body) as two:
        for opened in (one, two):  # a reset, a 408, or the end
            try:
                answer = opened.recv(100)
            except OSError:
                continue
            assert answer in (b"",) or answer.startswith(b"HTTP/1.1 408 ")
    assert not any("/never" in log.read_text() for log in logs)


def test_one_address_has_a_bounded_number_of_requests(site):
    proxy, _ = site
    with ExitStack() as stack:
        for _ in range(MORE_THAN_ALLOWED):
            half = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"
            stack.enter_context(send(proxy.port, half))
        assert ask(proxy.port)[0] == 429
    until(lambda: ask(proxy.port)[0] == 200)


@pytest.mark.parametrize("header", ["Authorization", "Cookie"])
def test_a_reader_returns_to_the_web_server_that_remembers_it(site, header):
    proxy, _ = site
    form = {"Authorization": "Bearer {}", "Cookie": "tideline_session={}"}[header]
    servers = [servers_of(proxy.port, {header: form.format(number)}) for number in range(12)]
    assert all(len(pids) == 1 for pids in servers)
    assert len(set.union(*servers)) == 2


def test_guests_are_spread_over_the_web_servers(site):
    proxy, _ = site
    assert len(servers_of(proxy.port, {}, times=24)) == 2


def servers_of(port, headers, times=3):
    return {json.loads(ask(port, headers=headers)[2])["pid"] for _ in range(times)}


@pytest.mark.parametrize("path", ["/metrics", "/health/live", "/health/ready"])
def test_pages_for_operators_are_not_for_the_world(site, path):
    proxy, _ = site
    assert ask(proxy.port, path)[0] == 404


def test_plain_http_is_sent_to_tls_with_method_and_path(site):
    proxy, _ = site
    connection = http.client.HTTPConnection("127.0.0.1", proxy.plain_port, timeout=30)
    connection.request("POST", "/a?b=c", b"", {"Host": "feed.example.org"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (308, "https://feed.example.org/a?b=c")
    connection.close()


def test_a_body_that_is_too_large_is_refused_by_the_proxy(site):
    proxy, logs = site
    with send(
        proxy.port, b"POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n"
    ) as it:
        assert it.recv(100).startswith(b"HTTP/1.1 413 ")
    assert not any("/big" in log.read_text() for log in logs)


def test_images_are_uploaded_through_it_and_other_large_bodies_are_not(site):
    proxy, _ = site
    large = b"x" * 3_000_000
    for path in ("/api/v1/media", "/api/v2/media", "/api/v1/accounts/update_credentials"):
        status, headers, body = ask(proxy.port, path, "POST", large)
        assert (status, headers["Access-Control-Allow-Origin"]) == (401, "*")
        assert json.loads(body) == {"error": "The access token is invalid"}
        assert ask(proxy.port, path, "OPTIONS")[0] == 200
        assert ask(proxy.port, path, "POST", large, {"Authorization": "Bearer x"})[0] == 200
    form, session = "/compose/images", {"Cookie": "tideline_session=x"}
    assert [ask(proxy.port, form, "POST", large, one)[0] for one in ({}, session)] == [403, 200]
    for path in ("/api/v1/statuses", "/api/v1/media/1", "/", "/api/v3/media"):
        assert ask(proxy.port, path, "POST", large)[0] == 413


def test_files_of_images_are_served_as_nothing_else(site):
    proxy, _ = site
    for name in ("x.jpg", "", "1/2/", "..%2f..%2fetc/passwd"):
        assert ask(proxy.port, f"/media/{name}")[0] in (400, 403, 404), name
