"""The accounts of a shard move to another one, back, and there for good, while people act."""

import time
from collections.abc import Sequence

from lab.faults.cluster.with_failpoints import EXIT_CODE
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment

CALLS_PER_S = 40.0
IDLE_S, BETWEEN_S = 5.0, 2.0
PROMISED_MS = 500.0
SOURCE, TARGET = "shard0", "shard1"
MOVE = ("moves", "start", "--from", SOURCE, "--to", TARGET, "--share", "1")
LOGICAL = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
# From here on the guard does not open by itself. At other places a test lets it die.
PLACES = ("moves.closed_for_good", "moves.flipped")


def _move(scene: Scene) -> None:
    """No call fails, and no write waits long."""
    with scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        with scene.broken():
            for words in (MOVE, ("moves", "undo"), MOVE, ("moves", "complete")):
                _run(scene, words)
                time.sleep(BETWEEN_S)
    span = scene.spans[-1]
    everyone, movers = scene.during(span), scene.during(span, {SOURCE})
    scene.note(f"everybody: {everyone.text()}")
    scene.note(f"who moved: {movers.text()}")
    scene.check(not everyone.errors, "no call fails", everyone.errors)
    scene.check_latency(movers.p99_ms, PROMISED_MS, "p99 of accounts that move")


def _die_in_switches(scene: Scene) -> None:
    """The process of the move dies in the switch, there and back."""
    with scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        with scene.broken():
            for place in PLACES:
                _die(scene, MOVE, place)
                _die(scene, ("moves", "undo"), place)
    errors = scene.during(scene.spans[-1]).errors
    scene.note(f"errors: {errors}")
    scene.check(not errors.keys() - {503}, "refusals are 503", errors)


def _die(scene: Scene, words: Sequence[str], place: str) -> None:
    died = scene.cluster.attempt(*words, armed={place: {"do": "exit"}})
    scene.check_happened(
        died.returncode == EXIT_CODE, f"{_name(words)} died at {place}", died.stderr
    )
    time.sleep(BETWEEN_S)
    _run(scene, ("moves", "resume"))


def _run(scene: Scene, words: Sequence[str]) -> None:
    done = scene.cluster.attempt(*words)
    scene.check(
        done.returncode == 0, f"{_name(words)} succeeds", (done.stdout + done.stderr)[-600:]
    )
    lines = [line for line in done.stdout.splitlines() if "writes waited" in line]
    for line in lines:
        scene.note(f"{_name(words)}: {line}")


def _name(words: Sequence[str]) -> str:
    return " ".join(words[:2])


MOVES = [
    Experiment(
        "F45a",
        "all accounts of a shard move, are brought back, and move for good",
        _move,
        postgres_settings=LOGICAL,
        has_fault=False,
    ),
    Experiment(
        "F45b",
        "the process that moves accounts dies in the switch, there and back",
        _die_in_switches,
        postgres_settings=LOGICAL,
    ),
]
