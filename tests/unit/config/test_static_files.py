"""`collectstatic` makes files smaller on the way, for browsers with brotli and for others."""

from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage
from django.utils.module_loading import import_string
from whitenoise import WhiteNoise

from config.django_settings import STATIC_STORE

SHEET = b"main { color: red }\n" * 500


def _encoding(root: Path, accepted: str) -> str | None:
    files = WhiteNoise(lambda *_: [], root=str(root))
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/page.css", "HTTP_ACCEPT_ENCODING": accepted}
    headers: dict[str, str] = {}
    sent = files(environ, lambda _, fields: headers.update(fields))
    sent.close()
    return headers.get("Content-Encoding")


@pytest.mark.parametrize(("accepted", "sent"), [("gzip, br", "br"), ("gzip", "gzip"), ("", None)])
def test_static_files_are_compressed(tmp_path: Path, accepted: str, sent: str | None) -> None:
    (tmp_path / "page.css").write_bytes(SHEET)
    storage = import_string(STATIC_STORE)(location=str(tmp_path), base_url="/static/")
    source = FileSystemStorage(str(tmp_path))
    list(storage.post_process({"page.css": (source, "page.css")}))
    assert _encoding(tmp_path, accepted) == sent
