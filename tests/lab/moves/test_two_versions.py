"""Moves between servers of two versions of PostgreSQL, in both directions."""

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import psycopg
import pytest
from django.core.management import call_command

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from lab.runner.installation import throw_away_installation
from lab.services import Search, running_services, throw_away_services
from tests.api_process import ApiProcess
from tests.callers import token_of
from tests.integration.moves.writers import Writer, drain_patiently, make_friends
from tests.migrated_data import provide_migrated_data
from tests.moving import (
    LOGICAL,
    SOURCE,
    TARGET,
    compare_shards,
    list_leftovers,
    move,
    moving_on,
    repeating,
)
from tests.private_world import catch_up, using_servers

pytestmark = pytest.mark.slow
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
MAJOR = "SELECT current_setting('server_version_num')::int / 10000"
INSTALLATION = "SELECT installation FROM sharding_databaseidentity"
JOIN = "UPDATE sharding_databaseidentity SET installation = %s"
START = partial(running_services, durable=False, postgres_settings=LOGICAL)


@pytest.fixture(scope="module")
def servers(django_db_blocker):
    """Those of the machine, and those of the wheels."""
    wheels = partial(START, shard_count=2, search=Search("", ()))
    with (
        throw_away_services(START, prepare=provide_migrated_data) as usual,
        throw_away_services(wheels) as others,
        django_db_blocker.unblock(),
    ):
        if usual.postgres[SOURCE].binary.major == others.postgres[SOURCE].binary.major:
            pytest.skip("this machine has one version of PostgreSQL")
        throw_away_installation(others, {}).manage("migrate_shards", "--verbosity", "0")
        yield usual, others


@pytest.fixture(params=[SOURCE, TARGET])
def mixed(request, servers):
    """One of the two shards is on the version of the wheels."""
    usual, others = servers
    server = others.postgres[request.param]
    with psycopg.connect(usual.postgres["default"].url) as session:
        installation = session.execute(INSTALLATION).fetchone()
    with psycopg.connect(server.url) as session:
        session.execute(JOIN, installation)
    services = replace(usual, postgres={**usual.postgres, request.param: server})
    with using_servers(services), moving_on(services):
        yield services


def test_accounts_move_to_the_other_version_and_back_under_load(mixed):
    assert fetch_one(SOURCE, MAJOR) != fetch_one(TARGET, MAJOR)
    people = make_friends("hello")
    with ExitStack() as stack:
        writers = [
            Writer(account, token_of(account), stack.enter_context(ApiProcess()))
            for account in people
        ]
        with repeating(*(writer.act for writer in writers), drain_patiently) as errors:
            move()
            call_command("moves", "undo")
            move()
        assert errors == []
        catch_up()
        assert compare_shards() > 0
        call_command("moves", "complete")
    assert {shard_of(mover) for mover in people[:2]} == {TARGET}
    for writer in writers[:2]:
        written = len(writer.posted) + 1
        assert fetch_one(TARGET, POSTS, (writer.account,)) == (written,)
        assert fetch_one(SOURCE, POSTS, (writer.account,)) == (0,)
    assert list_leftovers() == []
