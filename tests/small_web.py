"""A small application on the web server of Tideline: `python -m tests.small_web PORT WORKERS LOG`.

It prints the path of each request that it begins to serve. `/hang` with a number hangs until there
is a file with the name of the log and the suffix `.hang` with this number. `/work` takes WORK_S.
`/settings/export` is a stream of PIECES.
"""

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import django
from django.http import StreamingHttpResponse

from infra.deadline import ARRIVED
from tests.waiting import until
from web.serving.limits import Limits
from web.serving.server import TidelineServer

WORK_S = 0.02
PIECE, PIECES, PIECE_WORK_S = b"x" * 65_536, 1_000, 0.005
LIMITS = Limits(threads=2, wait_s=1.0, body_s=2.0, upload_s=2.0)


def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/raise":
        raise RuntimeError("the application failed")
    say(path)
    if path == "/settings/export":
        start_response("200 OK", [("Content-Type", "application/zip")])
        return StreamingHttpResponse(make_pieces())
    if path.startswith("/hang"):
        until(Path(sys.argv[3]).with_suffix(f".{path[1:]}").exists)
    if path == "/work":
        time.sleep(WORK_S)
    size = int(environ["QUERY_STRING"]) if path == "/large" else 0
    shown = {name: environ[name] for name in environ if isinstance(environ[name], str)}
    shown |= {"waited_s": time.monotonic() - environ[ARRIVED]}
    shown |= {"pid": os.getpid(), "body": environ["wsgi.input"].read().decode(), "more": "x" * size}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(shown).encode()]


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def make_pieces():
    try:
        for _ in range(PIECES):
            say("piece")
            time.sleep(PIECE_WORK_S)
            yield PIECE
    finally:
        say("end of pieces")


def main() -> None:
    django.setup()
    multiprocessing.set_start_method("fork")
    server = TidelineServer(
        "tests.small_web:application",
        address=("127.0.0.1", int(sys.argv[1])),
        workers=int(sys.argv[2]),
        linger_s=0,
        finish_s=2,
        limits=LIMITS,
    )
    server.run()


if __name__ == "__main__":
    main()
