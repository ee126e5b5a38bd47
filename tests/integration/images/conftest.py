"""A store of files of one test alone."""

import pytest

from config.django_settings import file_stores


@pytest.fixture
def empty_store(settings, tmp_path):
    settings.MEDIA_DIR = str(tmp_path)
    settings.STORAGES = file_stores(str(tmp_path), bucket="", endpoint="", region="")
