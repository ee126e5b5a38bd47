"""The icon of our pages: linked by each, and at the address browsers try by themselves."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.slow

LINK = re.compile(r'<link rel="icon" href="/static/([^"]+)">')
DAY_S = 86_400


@pytest.mark.parametrize("path", ["/auth/sign_in", "/api/docs"])
def test_pages_link_to_it_and_may_draw_it(world: None, path: str) -> None:
    answer = Client().get(path)
    (linked,) = LINK.findall(answer.content.decode())
    file = Client().get(f"/static/{linked}")
    assert file["Content-Type"] == "image/svg+xml"
    assert file.getvalue().startswith(b"<svg ")
    assert "img-src 'self'" in answer["Content-Security-Policy"]


def test_who_asks_for_it_unasked_gets_the_same_and_keeps_it(world: None) -> None:
    answer = Client().get("/favicon.ico")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
    assert answer.content == Path(finders.find("web/icon.svg") or "").read_bytes()
    (kept_s,) = re.findall(r"^public, max-age=(\d+)$", answer["Cache-Control"])
    assert int(kept_s) >= DAY_S
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")
