"""The SECRET_KEY of a laptop: made once, kept beside the data."""

import os
import secrets
from pathlib import Path

_BYTES = 64


def secret_key(data: Path) -> str:
    """The key in `data`/secret_key, which only its owner can read; made on the first call.

    Safety: idempotent; a crash leaves no half key.
    """
    file = data / "secret_key"
    if not file.exists():
        unfinished = file.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as output:
            output.write(secrets.token_urlsafe(_BYTES))
        unfinished.rename(file)
    return file.read_text()
