"""An author cools between the first round trip of a page and the decoding of its replies."""

import pytest

from infra.caching.remembered import forget_answers
from tests.integration.timelines.homes import first_page
from tests.races import failures, run_together
from tests.world import drain_all
from timelines.home import page


@pytest.mark.parametrize("pages_before", [1, 3])
def test_a_page_read_while_an_author_cools_has_no_hole(fans, monkeypatch, pages_before):
    fans.heat()
    fans.post()
    drain_all()
    fans.post(fans.friend)
    drain_all()
    for _ in range(pages_before):
        assert first_page(fans.me) == fans.expected()
    reader, cooled = page.HomeReader, []

    def others_run():
        fans.cool()
        drain_all()

    def ask_and_wait(*args, **kwargs):
        asked = reader(*args, **kwargs)
        if not cooled:
            cooled.append(True)
            assert failures(run_together([others_run])) == []
        return asked

    monkeypatch.setattr(page, "HomeReader", ask_and_wait)
    forget_answers()
    assert first_page(fans.me) == fans.expected()
    assert cooled
    assert first_page(fans.me) == fans.expected()
