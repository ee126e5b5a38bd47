"""A server of LibreTranslate's API on this machine, which writes words backwards."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

LANGUAGES = [
    {"code": "en", "name": "English", "targets": ["de", "en"]},
    {"code": "de", "name": "German", "targets": ["de", "en"]},
]


class Translator:
    """`status`: what it answers. `body`: instead of a translation. `waits`: it answers only when
    this event is set."""

    def __init__(self, port: int) -> None:
        self.url = f"http://localhost:{port}"
        self.asked: list[dict[str, Any]] = []
        self.status, self.body = 200, b""
        self.waits = threading.Event()
        self.waits.set()

    def answer(self, question: dict[str, Any]) -> bytes:
        texts = [" ".join(word[::-1] for word in text.split()) for text in question["q"]]
        answer: dict[str, Any] = {"translatedText": texts}
        if question["source"] == "auto":
            answer["detectedLanguage"] = [{"confidence": 90.0, "language": "en"}] * len(texts)
        return orjson.dumps(answer)


@contextmanager
def translator() -> Iterator[Translator]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(orjson.dumps(LANGUAGES) if self.path == "/languages" else b"{}")

        def do_POST(self) -> None:
            question = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.asked.append(question)
            service.waits.wait(30)
            self._send(service.body or service.answer(question))

        def _send(self, body: bytes) -> None:
            self.send_response(service.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("localhost", 0), Handler) as server:
        service = Translator(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield service
        finally:
            service.waits.set()
            server.shutdown()
            thread.join()
