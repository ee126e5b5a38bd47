"""A site that runs, and a database for a fifth shard of it."""

import json
import random
import time
from contextlib import contextmanager
from functools import partial
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg

from lab.services import running_services, throw_away_services
from tests.deployment import deployment_on
from tests.migrated_data import provide_migrated_data
from tests.moving import LOGICAL

INDEX = "SELECT author_id, moment FROM timelines_recentpost ORDER BY 1, 2"
NEW = "shard4"
_QUOTAS = dict.fromkeys(("QUOTA_PER_ACCOUNT", "QUOTA_PER_ADDRESS"), "1000000")


@contextmanager
def site_for_a_shard(parent):
    """Servers that can move buckets, a database for a fifth shard, and a folder with its URL."""
    start = partial(running_services, durable=False, postgres_settings=LOGICAL)
    folder = parent / "shards"
    folder.mkdir()
    with throw_away_services(start, prepare=provide_migrated_data) as services:
        site = deployment_on(services, _QUOTAS | {"SHARD_URLS_DIR": str(folder)})
        site.folder = folder
        # On the server of another shard than the one that gives accounts.
        site.server_url = services.postgres["shard1"].url
        yield site


def create_database(site, name):
    with psycopg.connect(site.server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url_of(site, name)


def url_of(site, name):
    before, _, after = site.server_url.partition("?")
    return f"{before.rpartition('/')[0]}/{name}{f'?{after}' if after else ''}"


class Person:
    """Somebody who posts, and reads their home."""

    def __init__(self, address, token):
        self._address, self._token = address, token
        self.posted = []

    def ask(self, path, body=None):
        data = None if body is None else urlencode(body).encode()
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            with urlopen(Request(f"{self._address}{path}", data, headers), timeout=30) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from error

    def act(self):
        posted = self.ask("/api/v1/statuses", {"status": f"{random.random()}"})
        self.posted.append(posted["id"])
        self.ask("/api/v1/timelines/home")
        time.sleep(0.3)

    def home(self):
        ids, path = set(), "/api/v1/timelines/home?limit=40"
        while page := self.ask(path):
            ids |= {status["id"] for status in page}
            path = f"/api/v1/timelines/home?limit=40&max_id={page[-1]['id']}"
        return ids


def rows(url, sql):
    with psycopg.connect(url) as connection:
        return connection.execute(sql).fetchall()
