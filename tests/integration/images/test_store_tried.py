"""A store that takes no image is seen: by readiness, by show_status, and by `check --deploy`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread

import pytest
from django.core.checks import run_checks

from accounts.images.folder import FILE_MODE, FOLDER_MODE
from config.django_settings import file_stores
from infra.sharding.probe import CachedProbe
from operations.status.report import list_down, read_status
from operations.status.status_lines import format_status
from tests.integration.images.uploading import files, sent
from tests.waiting import PATIENCE_S
from web import health


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(health, "IMAGES", CachedProbe(valid_s=0, deadline_s=PATIENCE_S))


@pytest.fixture
def no_store(settings, tmp_path):
    """Root may write every folder, but no folder is inside a file."""
    (tmp_path / "file").touch()
    settings.MEDIA_DIR = str(tmp_path / "file/media")
    settings.STORAGES = file_stores(settings.MEDIA_DIR, bucket="", endpoint="", region="")


def status():
    return read_status(datetime.now(UTC), patience_s=PATIENCE_S)


def images_line(found):
    return next(line for line in format_status(found) if line.startswith("images "))


def deploy_faults():
    return [one for one in run_checks(include_deployment_checks=True) if one.id == "images.E001"]


def test_a_store_that_works(world, client, empty_store, settings):
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["stores"]["images"]) == (200, "ok")
    assert images_line(status()) == f"images      up, in {settings.MEDIA_DIR}"
    assert deploy_faults() == []
    assert [*Path(settings.MEDIA_DIR).iterdir()] == []


def test_a_store_that_takes_nothing(world, client, no_store):
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert "Not a directory" in answer.json()["stores"]["images"]
    found = status()
    assert "images" in list_down(found)
    assert "DOWN: [Errno 20] Not a directory" in images_line(found)
    assert "Not a directory" in deploy_faults()[0].msg


def test_an_image_that_the_proxy_does_not_show(world, empty_store, settings):
    settings.TRUSTED_PROXIES = 1
    with proxy(Path(settings.MEDIA_DIR)) as address:
        settings.MEDIA_URL = f"{address}/"
        assert images_line(status()).endswith(f", read at {address}/")
    with proxy(Path(settings.MEDIA_DIR, "another")) as address:
        settings.MEDIA_URL = f"{address}/"
        found = status()
        assert list_down(found)[0] == "images"
        assert "DOWN: stored, but http://127.0.0.1:" in images_line(found)
        assert images_line(found).endswith("/original.jpg answers 404")
    assert "stored, but not read at http://127.0.0.1:" in images_line(status())
    assert files() == []


@contextmanager
def proxy(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_group_may_read_images_whatever_the_umask_is(me, empty_store, settings):
    before = os.umask(0o077)
    try:
        sent(me)
    finally:
        os.umask(before)
    assert {mode(one) for one in files()} == {FILE_MODE}
    folders = [one for one in Path(settings.MEDIA_DIR).rglob("*") if one.is_dir()]
    assert {mode(one) for one in folders} == {FOLDER_MODE}


def test_a_folder_with_another_mode_gets_the_right_one(me, empty_store, settings):
    sent(me)
    owner = next(Path(settings.MEDIA_DIR).iterdir())
    owner.chmod(0o700)
    sent(me)
    assert mode(owner) == FOLDER_MODE


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
