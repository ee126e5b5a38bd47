"""Ann and Bob with tokens, and a store of files of their own."""

import pytest


@pytest.fixture
def people(world):
    from tests.world import make_accounts  # noqa: PLC0415 - has models

    return make_accounts(2)


@pytest.fixture
def ann(people):
    from tests.callers import Caller  # noqa: PLC0415 - has models

    return Caller(people[0])


@pytest.fixture
def bob(people):
    from tests.callers import Caller  # noqa: PLC0415 - has models

    return Caller(people[1])


@pytest.fixture
def empty_store(settings, tmp_path):
    """A store of files of this test alone."""
    settings.MEDIA_DIR = str(tmp_path)
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
