"""The main job on a real graph, measured: python -m tests.scenarios.real_graph FILE.

Loads the graph, publishes posts by authors drawn by followers, waits for the drain, and reads
home, posts, following, followers and counts of many accounts through HTTP to the end. Compares
all of it with an oracle computed from the file. Exit code 1 when anything differs.
"""

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.deployment import Deployment, deployed
from tests.oracle import Oracle
from tests.scenarios.graph_input import (
    choose_readers,
    make_oracle,
    read_account_ids,
    read_lists,
    read_usernames,
)
from tests.scenarios.readers import Reader, differences

GRAPH = "scenario"
READING_THREADS = 4
DELETED_POSTS = 10
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@dataclass
class Report:
    """Seconds by step, sizes, and what was wrong: one line a difference."""

    seconds: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        sys.stderr.write(f"{step} …\n")
        started = time.monotonic()
        yield
        self.seconds[step] = round(time.monotonic() - started, 2)


def run(
    file: Path, posts: int, readers: int, seed: int = 1, settings: Mapping[str, str] = NO_SETTINGS
) -> Report:
    """The whole scenario in an installation of its own. From the main thread only."""
    report = Report()
    with deployed(settings) as deployment:
        _run_in(deployment, file, posts, readers, seed, report)
    return report


def _run_in(
    deployment: Deployment, file: Path, posts: int, readers: int, seed: int, report: Report
) -> None:
    load = ("-m", "lab.graph", str(file), "--name", GRAPH, "--seed", str(seed))
    with report.timed("load"):
        deployment.run(*load)
    lists = read_lists(file)
    ids = read_account_ids(deployment.default_url, GRAPH)
    people = _make_readers(deployment, [ids[n] for n in choose_readers(lists, readers, seed)])
    with report.timed("publish"):
        deployment.run(*load, "--posts", str(max(posts // 5, 1)))
        # Half of the homes are live from here on and are pushed to; the others are built later.
        for reader in people[::2]:
            reader.open_home()
        deployment.run(*load, "--posts", str(posts))
    with report.timed("drain the rest"):
        deployment.wait_until_drained()
    oracle = make_oracle(lists, ids, deployment.shard_urls)
    report.sizes = {
        "accounts": len(ids),
        "follows": sum(map(len, lists.values())),
        "posts": sum(len(oracle.posts(account_id)) for account_id in ids.values()),
        "readers": len(people),
        "home entries": sum(len(oracle.home(reader.account_id)) for reader in people),
    }
    _delete_some(people, oracle)
    with report.timed("read"):
        report.faults += _read_all(people, oracle)
    if report.sizes["posts"] != posts:
        report.faults.append(f"{report.sizes['posts']} posts published instead of {posts}")


def _make_readers(deployment: Deployment, account_ids: list[int]) -> list[Reader]:
    usernames = read_usernames(deployment.default_url, account_ids)
    tokens = deployment.manage("demo_token", *usernames).split()
    return [
        Reader.at(deployment.address, account_id, token)
        for account_id, token in zip(account_ids, tokens, strict=True)
    ]


def _read_all(people: list[Reader], oracle: Oracle) -> list[str]:
    with ThreadPoolExecutor(READING_THREADS) as pool:
        found = pool.map(lambda reader: differences(reader, oracle), people)
    return [line for lines in found for line in lines]


def _delete_some(people: list[Reader], oracle: Oracle) -> None:
    """Deletions hold at the next read, drained or not."""
    authors = [reader for reader in people if oracle.posts(reader.account_id)]
    for reader in authors[:DELETED_POSTS]:
        post = oracle.posts(reader.account_id)[-1]
        reader.client.status_delete(post)
        oracle.delete(reader.account_id, post)


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.scenarios.real_graph", description=__doc__)
    parser.add_argument("file", type=Path, help="the graph, as load_graph reads it")
    parser.add_argument("--posts", type=int, default=5_000)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    report = run(**vars(parser.parse_args()))
    sys.stdout.write(json.dumps(vars(report) | {"faults": len(report.faults)}, indent=2) + "\n")
    sys.exit("\n".join(report.faults) or 0)


if __name__ == "__main__":
    main()
