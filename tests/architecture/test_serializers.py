"""Nothing is ever pickled: what can write to Redis or a database must not run code in here."""

import ast

import pytest
from django.conf import settings
from django.core.cache import cache

# What is compared with Tideline in lab/bench/peers runs in an environment of its own, and pickles.
NOT_OURS = {"tests", "lab"}
# It reads code from a folder that only the user of Tideline may write, as Python does.
READS_CODE = settings.BASE_DIR / "pages/compiled_templates.py"
OURS = sorted(
    path
    for folder in settings.BASE_DIR.glob("[a-z]*/__init__.py")
    if folder.parent.name not in NOT_OURS
    for path in folder.parent.rglob("*.py")
)
UNSAFE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle"}


def modules_named(source: str) -> set[str]:
    """What is imported, and what is named in a string: settings import by name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value if " " not in node.value else "")
    return {part for name in found for part in name.lower().split(".")}


def test_all_of_the_code_is_looked_at():
    assert len(OURS) > 300


def test_no_module_pickles():
    assert [path for path in OURS if modules_named(path.read_text()) & UNSAFE] == [READS_CODE]


def test_the_walk_finds_what_it_looks_for():
    assert modules_named("import pickle") & UNSAFE
    assert modules_named("from pickle import loads") & UNSAFE
    assert modules_named('S = "django_redis.serializers.pickle.PickleSerializer"') & UNSAFE


def test_sessions_are_json():
    assert settings.SESSION_SERIALIZER == "django.contrib.sessions.serializers.JSONSerializer"


def test_the_cache_is_json():
    cache_options = settings.CACHES["default"]["OPTIONS"]
    assert cache_options["SERIALIZER"] == "infra.caching.django_serializer.MissingJSONSerializer"
    with pytest.raises(TypeError):
        cache.set("tests.serializers", object())
