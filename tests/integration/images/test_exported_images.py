"""The archive of an account has its images: the files, and their descriptions."""

import csv
import io
from zipfile import ZipFile

import pytest
from django.core.management import call_command

from accounts.images.errors import ImagesUnavailable
from accounts.images.store import default_storage
from moderation.actions.decide_on_image import decide_on_image
from moderation.jobs import export_images
from moderation.types import DecisionKind, DecisionOrigin
from tests.integration.images.test_profile_pictures import edit
from tests.integration.images.uploading import publish, sent
from tests.pictures import opened, picture, transparent, upload

pytestmark = pytest.mark.usefixtures("empty_store")


def export(account_id, path):
    call_command("export_account", account=account_id, to=path, verbosity=0)
    return ZipFile(path)


def test_all_images_are_in_the_archive_but_hidden_ones(me, you, people, tmp_path, monkeypatch):
    monkeypatch.setattr(export_images, "_PAGE", 2)
    edit(me, avatar=upload(picture(size=(500, 500))))
    large = sent(me, content=picture("JPEG", (1_200, 800)), description='Sea, and "sun"')
    glass, hidden = sent(me, content=transparent()), sent(me, description="gone")
    status = publish(me, [large, glass, hidden])
    sent(you)
    decide_on_image(
        people[0], int(hidden["id"]), DecisionKind.HIDE, DecisionOrigin(None, "not here")
    )
    archive = export(people[0], tmp_path / "ann.zip")
    text = archive.read("images.csv").decode()
    rows = [row[:4] for row in csv.reader(io.StringIO(text))]
    names = [f"images/{large['id']}.jpg", f"images/{glass['id']}.webp"]
    assert rows[1:4] == [
        ["", "post", status["id"], "gone"],
        [names[1], "post", status["id"], ""],
        [names[0], "post", status["id"], 'Sea, and "sun"'],
    ]
    assert rows[4][1:] == ["avatar", "", ""]
    assert opened(archive.read(names[0])).size == (1_200, 800)
    assert opened(archive.read(rows[4][0])).size == (400, 400)
    assert len([one for one in archive.namelist() if one.startswith("images/")]) == 3


def test_without_the_store_there_is_no_archive(me, people, tmp_path, monkeypatch):
    def broken(*_args, **_options):
        raise OSError("no disk")

    sent(me)
    monkeypatch.setattr(type(default_storage._wrapped), "open", broken)
    with pytest.raises(ImagesUnavailable):
        export(people[0], tmp_path / "ann.zip")
    assert not (tmp_path / "ann.zip").exists()
