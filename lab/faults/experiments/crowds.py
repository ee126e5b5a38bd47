"""Hostile and too many clients: floods, slow bodies, half headers, idle sockets."""

import json
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress

from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span
from lab.load.flood import LOST
from lab.runner.child import CHECKOUT
from lab.runner.port import HOST

CALLS_PER_S = 30.0
FLOOD_S, CONNECTIONS = 12.0, 150
NORMAL_AFTER_S = 2.0
NOISE_MS = 150.0
ATTACK_S, SOCKETS = 12.0, 60
_ATTACKER = ("127.0.0.3", 0)
_OPENINGS = (
    b"POST /api/v1/statuses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx",
    b"GET /api/v1/timelines/home HTTP/1.1\r\nHost: loc",
    b"",
)


def _flood(scene: Scene) -> None:
    """Two floods of 150 connections; then the load must be served as before."""
    token = scene.accounts[-1].tokens[1]
    with scene.watching_live(), scene.under_load(CALLS_PER_S):
        time.sleep(6)
        with scene.broken():
            floods = [_start_flood(port, token) for port in scene.cluster.ports.values()]
            answers = [json.loads(flood.communicate()[0]) for flood in floods]
        time.sleep(NORMAL_AFTER_S + 6)
    after = scene.during(Span(scene.spans[-1].ended_s + NORMAL_AFTER_S, time.monotonic()))
    scene.note(f"answers to the floods: {answers}")
    scene.check_happened(all(answers), "both webs answered a flood", answers)
    scene.note(f"load during: {scene.during(scene.spans[-1]).text()}")
    scene.note(f"load two seconds after: {after.text()}")
    statuses = {status for answer in answers for status in answer}
    scene.check(not statuses - {"200", "503", "429", LOST}, "answers are 200, 429 or 503", statuses)
    _check_normal(scene, after.errors, after.p99_ms)


def _start_flood(port: int, token: str) -> "subprocess.Popen[str]":
    words = ["-m", "lab.load.flood", str(port), token, str(FLOOD_S), str(CONNECTIONS)]
    return subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    )


def _check_normal(scene: Scene, errors: dict[int, int], p99_ms: float) -> None:
    bound_ms = max(2 * scene.idle().p99_ms, NOISE_MS)
    scene.check_no_errors(errors, "no error for others")
    scene.check_latency(p99_ms, bound_ms, "p99 for others at most 2 x idle")


def _hold_sockets(scene: Scene) -> None:
    """Slow bodies, half headers and idle sockets, of another address than the load."""
    with scene.watching_live(), scene.under_load(CALLS_PER_S):
        time.sleep(6)
        with ExitStack() as stack, scene.broken():
            sockets = [
                stack.enter_context(_opened(port, opening))
                for port in scene.cluster.ports.values()
                for opening in _OPENINGS
                for _ in range(SOCKETS // len(_OPENINGS))
            ]
            end_s = time.monotonic() + ATTACK_S
            while time.monotonic() < end_s:
                _drip(sockets)
                time.sleep(0.5)
    impact = scene.during(scene.spans[-1])
    scene.note(f"{len(sockets)} sockets held: {impact.text()}")
    scene.check_happened(len(sockets) >= SOCKETS, "the webs took the sockets", len(sockets))
    _check_normal(scene, impact.errors, impact.p99_ms)


def _opened(port: int, opening: bytes) -> socket.socket:
    opened = socket.create_connection((HOST, port), timeout=5, source_address=_ATTACKER)
    with suppress(OSError):  # it may be closed at once, which is right
        opened.sendall(opening)
    return opened


def _drip(sockets: list[socket.socket]) -> None:
    """One byte on each."""
    for opened in sockets:
        with suppress(OSError):
            opened.sendall(b"x")


CROWDS = [
    Experiment("F41", "120 slow bodies, half headers and idle sockets", _hold_sockets),
    Experiment("F42", "300 connections that ask without a pause", _flood),
]
