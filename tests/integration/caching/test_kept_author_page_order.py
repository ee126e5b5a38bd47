"""A kept page of an author is looked at before the read window is."""

from django.test import Client

from infra import read_window
from tests.api_process import WINDOW_MS
from tests.integration.own_writes.acting import ACCOUNTS, STATUSES, RemoteCaller, make_pair, publish
from tests.races import failures, run_together
from timelines.queries import author_batches


def test_a_deleted_post_is_not_on_the_page_of_its_reposter(world, waiting_web, monkeypatch):
    monkeypatch.setattr("infra.caching.listener.receive_invalidation", lambda message: None)
    monkeypatch.setattr(read_window, "WINDOW_S", WINDOW_MS / 1000)
    writer, reposter = make_pair()
    post = publish(writer)
    reposter.act(f"{STATUSES}/{post}/reblog")
    page = f"{ACCOUNTS}/{reposter.id}/statuses"
    for _ in range(4):
        assert len(Client().get(page).json()) == 1
    RemoteCaller.acting_for(writer, waiting_web).act(f"{STATUSES}/{post}", method="DELETE")

    find, switched = author_batches.find_newest_in_window, []

    def others_run():
        for _ in range(3):
            Client().get(page)

    def find_later(author_id):
        """The interpreter gives the turn to another thread here."""
        if not switched:
            switched.append(True)
            assert failures(run_together([others_run])) == []
        return find(author_id)

    monkeypatch.setattr(author_batches, "find_newest_in_window", find_later)
    assert Client().get(page).json() == []
    assert switched
