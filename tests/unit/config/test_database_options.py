"""Options of a database URL and those of Tideline: both hold, and the URL wins."""

from config.environment import Environment, merge_options, session_options

OURS = {"connect_timeout": 3, "options": session_options(statement_timeout=20_000)}


def options_of(query):
    config = Environment().database("DATABASE_URL", f"postgresql://db/tideline{query}")
    return merge_options(OURS, config.get("OPTIONS"))


def test_url_without_options_has_ours():
    assert options_of("") == {
        "connect_timeout": 3,
        "options": "-c jit=off -c statement_timeout=20000",
    }


def test_options_of_a_url_are_added_and_come_last():
    found = options_of("?options=-c%20statement_timeout%3D5s%20-c%20work_mem%3D8MB&sslmode=require")
    assert found == {
        "connect_timeout": 3,
        "sslmode": "require",
        "options": "-c jit=off -c statement_timeout=20000 -c statement_timeout=5s -c work_mem=8MB",
    }


def test_other_option_of_a_url_replaces_ours():
    assert options_of("?connect_timeout=9")["connect_timeout"] == 9


def test_replica_has_them_too():
    url = "postgresql://db/tideline?options=-c%20work_mem%3D8MB"
    config = Environment().replica("SHARD_REPLICA_URLS[0]", url, {}, "shard0", 500)
    assert config["OPTIONS"]["options"] == (
        "-c jit=off -c default_transaction_read_only=on -c statement_timeout=500 -c work_mem=8MB"
    )
