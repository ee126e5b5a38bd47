"""Ann and Bob with tokens, and a store of files of their own."""

import pytest

from config.media_settings import file_stores


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
    settings.STORAGES = file_stores(str(tmp_path), bucket="", endpoint="", region="")
