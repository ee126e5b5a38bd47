"""SHARD_DATABASE_URLS: separated by commas, which also stand between the servers of a shard."""

import pytest

from config.environment import Environment

NAME = "SHARD_DATABASE_URLS"


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("postgresql://a/0,postgresql://b/1", ["postgresql://a/0", "postgresql://b/1"]),
        (" postgresql://a/0 , postgres://b/1,", ["postgresql://a/0", "postgres://b/1"]),
        (
            "postgresql://u@a:1,b:2/0?target_session_attrs=read-write,postgresql://c/1",
            ["postgresql://u@a:1,b:2/0?target_session_attrs=read-write", "postgresql://c/1"],
        ),
        (
            "postgresql:///0?host=/a,/b&port=1,2, postgresql://c/1",
            ["postgresql:///0?host=/a,/b&port=1,2", "postgresql://c/1"],
        ),
        ("", []),
    ],
)
def test_commas_separate_urls_and_servers(monkeypatch, value, urls):
    monkeypatch.setenv(NAME, value)
    assert Environment().urls(NAME, ["postgresql://default/0"]) == urls


def test_default_counts_only_when_it_is_unset(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    assert Environment().urls(NAME, ["postgresql://default/0"]) == ["postgresql://default/0"]


def test_several_servers_reach_the_driver_in_their_order():
    config = Environment().database(NAME, "postgresql://u:p@a:1,b:2/name?target_session_attrs=any")
    assert (config["HOST"], config["PORT"], config["NAME"]) == ("a,b", "1,2", "name")
    config = Environment().database(NAME, "postgresql:///name?host=/a,/b&port=1,2")
    assert (config["HOST"], config["PORT"]) == ("/a,/b", "1,2")


def test_url_that_lacks_its_scheme_is_a_fault(monkeypatch):
    """Else its text would be the end of the name of the database before it."""
    monkeypatch.setenv(NAME, "postgresql://a/0,b:5432/1")
    environment = Environment()
    (url,) = environment.urls(NAME, [])
    environment.database(f"{NAME}[0]", url)
    assert environment.faults == [
        f"{NAME}[0]: the database's name has a comma; each URL begins with postgresql://"
    ]
