"""The HTML of posts is as it was recorded. The spaces between blocks do not count."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from posts.queries.reactions import DeclaredReaction, known_reactions
from posts.types import Kind
from tests.unit.pages.plain_html import plain_lines
from tests.unit.pages.varied_posts import ANN, VARIED, Entity, post

CLAP = DeclaredReaction(Kind(32), "clap", {"en": "claps <b>", "de": "klatscht"})
COOKED = DeclaredReaction(Kind(33), "cooked_it", {"de-AT": "gekocht"})
OTHERS = [DeclaredReaction(Kind(n), f"r{n}", {"en": f"word {n}"}) for n in (34, 35, 36)]
FOLDER = Path(__file__).parent / "recorded"


class _Page(NamedTuple):
    viewer: Entity | None
    filter_place: str = "home"


@pytest.fixture(autouse=True)
def no_reactions() -> Iterator[None]:
    """Posts are drawn without a database: what a process has read of it is given."""
    known_reactions._keep(())
    yield
    known_reactions.forget()


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


@pytest.mark.parametrize(("name", "viewer"), [("reactions", ANN), ("reactions_guest", None)])
def test_a_post_with_reactions_has_the_recorded_html(name: str, viewer: Entity | None) -> None:
    known_reactions._keep([CLAP, COOKED, *OTHERS])
    had = [{"name": "clap", "count": 1_234, "me": True}, {"name": "r35", "count": 1, "me": False}]
    recorded = (FOLDER / f"{name}.txt").read_text().splitlines()
    part = _draw("status.html", viewer, status=post(10, reactions=had))
    assert plain_lines(part) == recorded
