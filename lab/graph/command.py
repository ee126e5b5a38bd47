"""Loads a follow graph from a file and publishes made-up posts."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work
from operations.demo.formats import FORMATS
from operations.demo.graphs import Graph, read_graph
from operations.demo.load import load_community, loading_lock
from operations.demo.names import name_of_file, naming_of
from operations.demo.publish import PostPlan, deliver_pending, publish_posts
from operations.demo.types import Community


class LoadGraph(JobCommand):
    """Loads a follow graph in bulk with made-up names, and publishes made-up posts of its accounts.
    After a stop or a kill, run it again to continue.

    **When**: to fill an installation with a real follow graph. It reads the formats `edges` (a line
    per follow: follower, followee) and `nostr` (the JSON of nostr-social-graph), plain or gzip. It
    detects the format, or takes it from `--format`. Accounts get made-up names that end in their
    number and the graph's name, so several graphs can be loaded. `--limit N` takes the N best
    connected accounts. `--posts N` publishes made-up posts through the normal path (other ones with
    another `--seed`), and `--drain` also delivers their changes. With `--password` people can sign
    in to the accounts.

    Files lack the times of follows. A follower's nth follow (from 0) is dated 2026-01-01T00:00Z
    plus n minutes and (follower's number mod 60,000) ms. The command leaves out self-follows,
    repeats, and follows over FOLLOW_CAP (it keeps the first ones), and shows their numbers. A name
    belongs to one file, limit and cap; a different one is refused. The command only writes accounts
    that do not exist. **Costs**: accounts and follows are written with COPY, about 6,000 accounts a
    second; posts one by one. **Stopping it**: Ctrl-C or `kill -9`. Run it again to continue; it
    writes nothing twice.

    ```
    $ python -m lab.graph socialGraph.json --name nostr --posts 500
    reading socialGraph.json
    graph nostr: 29,827 accounts, 215,216 follows; left out: 0 of oneself, 0 repeated, 0 over the cap of 2,000
    load_graph: 2,000 (352/s) accounts with their follows
    …
    30,327 accounts and posts done, 0 failed
    ```
    """  # noqa: E501

    name = "load_graph"
    unit = "accounts and posts"

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the graph, plain or gzip")
        parser.add_argument("--format", choices=FORMATS, help="default: detected")
        parser.add_argument("--name", help="1 to 8 letters and digits; default: from the file name")
        parser.add_argument("--limit", type=_count, help="how many accounts, the best connected")
        parser.add_argument("--posts", type=_count, default=0, help="how many posts in all")
        parser.add_argument("--seed", type=int, default=1, help="another number gives other posts")
        parser.add_argument("--drain", action="store_true", help="deliver the posts' changes")
        parser.add_argument("--password", help="of all accounts; without it, no sign-in")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        naming = naming_of(options["name"] or name_of_file(options["file"]))
        self.stderr.write(f"reading {options['file']}")
        cap, limit = settings.FOLLOW_CAP, options["limit"]
        graph = read_graph(options["file"], options["format"], cap, limit)
        self.stderr.write(f"graph {naming.graph}: {_description(graph)}")
        community = Community(graph, naming)
        with loading_lock(community.name):
            ids = yield from load_community(community, options["password"])
            plan = PostPlan(options["posts"], options["seed"])
            for batch in publish_posts(community, ids, plan):
                if options["drain"]:
                    deliver_pending()
                yield batch


def _description(graph: Graph) -> str:
    left_out = graph.left_out
    return (
        f"{len(graph.nodes):,} accounts, {graph.follow_count:,} follows; left out:"
        f" {left_out.self_follows:,} of oneself, {left_out.repeats:,} repeated,"
        f" {left_out.over_cap:,} over the cap of {settings.FOLLOW_CAP:,}"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**12:
        raise ArgumentTypeError(f"{text!r} is not a count")
    return int(text)
