"""A shard hangs with its replica: a page that needs them fails soon, and is whole later."""

from accounts.queries.load import load_account_json
from infra.sharding.buckets import shard_of
from tests.faults.hung_world import environment_of, running_web
from tests.faults.replicas.old_posts import old_posts, path_of
from tests.paced_requests import Ask, percentile
from tests.replicas import catch_replicas_up
from tests.server_faults import pause, resume
from tests.waiting import until
from tests.world import make_account

# REPLICA_TIMEOUT_MS, and what the shard itself may take. A crowded machine takes longer.
SOON_S = 0.5 + 1.2 + 2.0


def test_a_page_fails_soon_and_is_whole_later(services, tmp_path):
    ann = make_account()
    ids = old_posts(ann, 5)
    load_account_json([ann])
    catch_replicas_up(services)
    shard = shard_of(ann)
    both = services.postgres[shard], services.replicas[f"{shard}_replica0"]
    pages = [Ask("page", "", path_of(ann, below)) for below in ids[:4]]
    with running_web(environment_of(services.environment()), tmp_path / "web.log") as clients:
        until(lambda: clients.send(pages[0]).status == 200)
        for server in both:
            pause(server)
        try:
            answers = [clients.send(page) for page in pages[1:] * 3]
        finally:
            for server in both:
                resume(server)
        assert {one.status for one in answers} == {503}
        assert percentile(answers, 1.0) < SOON_S
        assert percentile(answers, 0.5) < SOON_S / 4
        until(lambda: [clients.send(page).status for page in pages] == [200] * 4)
