"""An author cools between the first round trip of a page and the decoding of its replies."""

import pytest

from infra.caching.invalidation_log import LOG
from tests.integration.timelines.homes import first_page
from tests.races import failures, run_together
from tests.world import drain_all
from timelines.queries import home


@pytest.mark.parametrize("pages_before", [1, 3])
def test_a_page_read_while_an_author_cools_has_no_hole(fans, monkeypatch, pages_before):
    fans.heat()
    fans.post()
    drain_all()
    fans.post(fans.friend)
    drain_all()
    for _ in range(pages_before):
        assert first_page(fans.me) == fans.expected()
    first_trip, cooled = home.FirstTrip, []

    def others_run():
        fans.cool()
        drain_all()
        LOG.read()  # any other page

    def ask_and_wait(*args, **kwargs):
        trip = first_trip(*args, **kwargs)
        if not cooled:
            cooled.append(True)
            assert failures(run_together([others_run])) == []
        return trip

    monkeypatch.setattr(home, "FirstTrip", ask_and_wait)
    assert first_page(fans.me) == fans.expected()
    assert cooled
    assert first_page(fans.me) == fans.expected()
