"""URLs in the environment come before anything that would be started."""

import pytest

from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.errors import DatabaseUrlsIncomplete

GIVEN = {
    "DATABASE_URL": "postgresql://db/one",
    "SHARD_DATABASE_URLS": "postgresql://db/two,postgresql://db/three",
    "REDIS_URL": "redis://cache/0",
}


def test_nothing_is_started_or_made_when_all_urls_are_given(tmp_path):
    with running_services(tmp_path / "data", environ=GIVEN) as services:
        assert services.environment() == GIVEN
        assert services.servers == []
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("missing", ["DATABASE_URL", "SHARD_DATABASE_URLS"])
@pytest.mark.parametrize("empty", [True, False])
def test_half_of_the_databases_is_refused(tmp_path, missing, empty):
    environ = {**GIVEN, missing: ""} if empty else {k: GIVEN[k] for k in GIVEN if k != missing}
    with (
        pytest.raises(DatabaseUrlsIncomplete, match=f"{missing} is not"),
        running_services(tmp_path / "data", environ=environ),
    ):
        pass


def test_only_what_is_not_given_is_started(tmp_path):
    data = tmp_path / "data"
    databases = {name: url for name, url in GIVEN.items() if name != "REDIS_URL"}
    with running_services(data, environ=databases) as services:
        assert services.postgres == {}
        assert services.redis is not None
        assert services.redis.is_running
        assert services.environment() == databases | {"REDIS_URL": services.redis.url}
    assert not services.redis.is_running
    delete_data(data)
