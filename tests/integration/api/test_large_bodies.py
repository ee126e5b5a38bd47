"""Bodies that are too large, too deep or have too many parts: 413 or 400, from pages and API."""

import json
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.callers import Caller
from tests.world import make_account

MOST = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
PATHS = ["/api/v1/statuses", "/api/v1/apps", "/oauth/token", "/auth/sign_in", "/admin/login/"]
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
# As deep as a parser may go, and far deeper.
DEPTHS = [100, 10_000, 100_000]


@pytest.fixture
def client(world: None) -> Client:
    return Caller(make_account(), "write").client


def test_a_large_body_is_refused(client: Client) -> None:
    for kind in [JSON, FORM, "text/plain"]:
        for path in PATHS:
            body = b'{"status":"%b"}' if kind == JSON else b"status=%b"
            answer = client.post(path, body % (b"x" * 10_000_000), kind)
            assert answer.status_code == 413, (path, kind)
            if path.startswith(("/api/", "/oauth/")):
                assert answer.json() == {"error": "The request is too large"}, (path, kind)


def test_files_count_towards_the_body(client: Client) -> None:
    for path in PATHS:
        file = SimpleUploadedFile("a.png", b"x" * MOST)
        assert client.post(path, {"status": "hello", "file": file}).status_code == 413, path


def test_many_small_parts_are_refused(client: Client) -> None:
    for form in (
        {f"file{n}": SimpleUploadedFile("a.png", b"x") for n in range(200)},
        {f"field{n}": "x" for n in range(2_000)},
    ):
        answer = client.post("/api/v1/statuses", {"status": "hello"} | form)
        assert answer.status_code in {400, 413}
        assert answer.json()["error"]
    many = "&".join(f"a{n}=1" for n in range(20_000))
    assert client.post("/api/v1/statuses", many, FORM).status_code in {400, 413}


def test_deep_json_is_refused_or_read(client: Client) -> None:
    for opening in ["[", '{"a":']:
        for depth in DEPTHS:
            closing = "]" if opening == "[" else "}"
            inner = opening * depth + "1" + closing * depth
            for body in (inner, f'{{"status":{inner}}}', opening * depth):
                answer = client.post("/api/v1/statuses", body, JSON)
                assert answer.status_code in {400, 422}, answer.content[:200]


def test_strange_numbers_are_no_errors_of_ours(client: Client) -> None:
    for number in ["9" * 5_000, "-1e999999", "1e5000", "NaN"]:
        for name in ("status", "in_reply_to_id", "sensitive"):
            body: Any = json.dumps({"status": "hello"})[:-1] + f',"{name}":{number}}}'
            assert client.post("/api/v1/statuses", body, JSON).status_code < 500, number


def test_a_strange_length_is_refused(client: Client) -> None:
    for length in ["-1", "x", "1" * 40, "1" * 5_000]:
        answer = client.post("/api/v1/statuses", b"{}", JSON, CONTENT_LENGTH=length)
        assert answer.status_code == 413, length


def test_the_longest_post_of_all_settings_fits(client: Client, settings: Any) -> None:
    settings.POST_MAX_CHARACTERS = 100_000
    answer = client.post("/api/v1/statuses", json.dumps({"status": "😀" * 100_000}), JSON)
    assert answer.status_code == 200
