"""Real PostgreSQL shards and Redis for the session, then the settings, then all that has models.

Every xdist worker has its own databases and its own Redis database number.
"""

import gc
import os
import shutil
import sys
import tempfile

import django
import hypothesis
import pytest
from django.conf import settings
from hypothesis import Phase
from hypothesis.internal.conjecture import providers

from tests.migrated_data import delete_migrated_data
from tests.other_process import end_idle_sessions_late
from tests.services import SessionServices, start_for_session
from tests.tiers import add_option, deselect

# Tests start other processes. Without compiled modules on disk each of them would compile all
# packages again, which takes longer than most tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A process of tests has millions of objects that stay. Visits of them took a quarter of its time.
NEW_OBJECTS = 50_000
gc.set_threshold(NEW_OBJECTS)

# Plugins, not conftests: those are imported before the settings have their servers.
FIXTURES = (
    "tests.fixtures",
    "tests.redis_kinds",
    "tests.people",
    "tests.private_world",
    "tests.moving",
    "tests.pooling",
)
# Folders whose modules start servers, browsers or many schedules.
LONG = {"faults", "interleavings", "browser"}
# Of callers; and in ms of the store of images, which does not hang on a crowded machine.
LIMITS = ("PASSWORDS_PER_ACCOUNT", "UPLOADS_PER_ACCOUNT", "DEEP_PAGES_PER_S", "MEDIA_STORE_MS")
_services = pytest.StashKey[SessionServices]()
# How long an example takes says how crowded the machine is, not whether the example holds.
_PATIENT = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
# `make test` tries the same examples every time; `make test-random` draws new ones. The search for
# the smallest example that fails takes five minutes a test: `make test` leaves it to "smallest".
_NO_SEARCH = [one for one in Phase if one not in (Phase.shrink, Phase.explain)]
hypothesis.settings.register_profile("same", derandomize=True, phases=_NO_SEARCH, **_PATIENT)
hypothesis.settings.register_profile("smallest", derandomize=True, **_PATIENT)
hypothesis.settings.register_profile("random", **_PATIENT)
hypothesis.settings.load_profile("same")
# Hypothesis also tries the constants of all modules that the process has loaded. Which those are
# depends on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants


def pytest_addoption(parser: pytest.Parser) -> None:
    add_option(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Servers first, settings second: those read the servers' URLs. Workers inherit them."""
    os.environ.setdefault("DEVELOPMENT", "1")
    # A crowded machine is not a hung Redis; tests of the time-out start servers of their own.
    os.environ.setdefault("REDIS_TIMEOUT_MS", "30000")
    os.environ.setdefault("DATABASE_ANSWER_MS", "30000")
    # Whether keys get hot says how fast the machine is; tests of hot keys have their own limits.
    os.environ.setdefault("HOT_KEY_READS", "10000000")
    # Whether a page asks Redis would say how fast the machine is; tests of the window open it.
    # All tests ask from one address, and page as fast as they can; those of limits set their own.
    os.environ.setdefault("QUOTA_PER_ADDRESS", "15000000")
    os.environ.setdefault("VAPID_PRIVATE_KEY", "dGlkZWxpbmUgdGVzdHMgb25seS4gbm8gc2VjcmV0ISE=")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        config.stash[_services] = start_for_session()
        os.environ["RUNTIME_DIR"] = tempfile.mkdtemp(prefix="tideline-run-")
        os.environ["MEDIA_DIR"] = os.environ["RUNTIME_DIR"] + "/media"
    else:
        # Redis has numbered databases; PostgreSQL's are named by pytest-django.
        number = int(worker.removeprefix("gw")) + 1
        os.environ["REDIS_URL"] = os.environ["REDIS_URL"].replace("db=0", f"db={number}")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    for limit in LIMITS:
        setattr(settings, limit, 1_000_000)
    django.setup()
    end_idle_sessions_late()
    # Each test client makes new middlewares. Without this one of them looks at 200 files then.
    settings.WHITENOISE_AUTOREFRESH = True
    for module in FIXTURES:
        config.pluginmanager.import_plugin(module)
    if worker is None:
        # A worker that inherited this would read the settings before its own Redis number is set.
        del os.environ["DJANGO_SETTINGS_MODULE"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long modules first: at the end all processes have short ones left. Else a random order."""
    deselect(config, items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, not LONG & {*item.path.parts}))


def pytest_collection_finish() -> None:
    """The product and all tests are loaded: the garbage collector need not visit them again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    services = config.stash.get(_services, None)
    if services is not None:
        delete_migrated_data(os.environ["RUNTIME_DIR"])
        services.stop()
        shutil.rmtree(os.environ["RUNTIME_DIR"])
