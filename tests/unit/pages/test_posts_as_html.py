"""The HTML of posts is as it was recorded. The spaces between blocks do not count."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from tests.unit.pages.plain_html import plain_lines
from tests.unit.pages.varied_posts import ANN, VARIED, Entity, post

FOLDER = Path(__file__).parent / "recorded"


class _Page(NamedTuple):
    viewer: Entity | None
    filter_place: str = "home"


def _draw(part: str, viewer: Entity | None, **context: Any) -> str:
    request = RequestFactory().get("/", {"max_id": 'a"b'})
    whole = {"viewer": viewer, "page": _Page(viewer), **context}
    return render_to_string(f"pages/parts/{part}", whole, request)


@pytest.mark.parametrize(("name", "viewer"), [("signed_in", ANN), ("guest", None)])
def test_posts_have_the_recorded_html(name: str, viewer: Entity | None) -> None:
    recorded = (FOLDER / f"{name}.txt").read_text().splitlines()
    assert plain_lines(_draw("statuses.html", viewer, statuses=VARIED)) == recorded


@pytest.mark.parametrize("how", ["in_thread", "promoted"])
def test_a_post_alone_has_the_recorded_html(how: str) -> None:
    recorded = (FOLDER / f"{how}.txt").read_text().splitlines()
    part = _draw("status.html", ANN, status=post(10, in_reply_to_id="9"), **{how: True})
    assert plain_lines(part) == recorded
