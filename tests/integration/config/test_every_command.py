"""Every management command, the contract of all: help, dry run, twice, killed and resumed."""

import json
import os
import signal

import pytest
from django.db import connections

from counters.kinds import CounterKind
from infra.changes.models import ChangeState
from infra.changes.parking import ChangeSelection, list_undelivered_changes, park
from infra.jobs.drive_job import Driver
from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from infra.verbs import ManualFormatter
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from tests.integration.config.commands import MAKERS, WORDS, list_commands, list_jobs
from tests.integration.config.digests import keys_digest, rows_digest
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import delete_edge
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page
from tests.world import drain_all, make_accounts, publish
from timelines.hot.actions.heat import heat_author

COMMANDS = list_commands()
JOBS = list_jobs()
PEOPLE = 7

# Flags name the shards, which a process learns from the database before its first command.
pytestmark = pytest.mark.usefixtures("databases")


def test_the_commands_looked_at_are_the_ones_meant():
    names = {found.name for found in COMMANDS}
    assert {"changes drain", "show_status", "audit edges", "load_demo", "migrate"} <= names
    assert WORDS.keys() | MAKERS <= names


@pytest.mark.parametrize("found", COMMANDS, ids=lambda found: found.name)
def test_help_says_what_it_is_and_what_every_flag_does(found):
    parser = found.make().create_parser("manage.py", found.name)
    silent = [action.dest for action in parser._actions if not action.help]
    assert silent == []
    assert parser.description
    assert found.name in parser.format_help()
    assert parser.formatter_class is ManualFormatter


@pytest.fixture
def spoiled_people(world):
    """A small network in which every job finds something to do."""
    spoiled_people = make_accounts(PEOPLE)
    star, *others = spoiled_people
    for n, other in enumerate(others):
        follow(other, star)
        follow(star, other)
        follow(other, others[n - 1])
    heat_author(shard_of(others[0]), others[0])
    drain_all()
    for person in spoiled_people:
        first_page(person)
    posts = [publish(person) for person in spoiled_people]
    drain_all()
    spoil_all(spoiled_people, posts)
    follow(others[0], others[4])  # some are pending, some parked
    follow(others[1], others[5])
    shard = shard_of(others[0])
    park(
        shard,
        [
            row.id
            for row in list_undelivered_changes(shard, ChangeState.PENDING, 0, 1, ChangeSelection())
        ],
        "a test",
    )
    return spoiled_people


def spoil_all(spoiled_people, posts):
    """Counts, edges, timelines and posts."""
    star, *others = spoiled_people
    for person in others[:4]:
        spoil(person, CounterKind.FOLLOWING, +1)
        delete_edge("backward", person, star)
        lose(person, posts[:1])
    delete_post(posts[-1])


def words_of(found, spoiled_people, *more):
    """The command line, with small batches."""
    small = ("--batch-size", "2") if JobFlag.BATCH_SIZE in found.flags else ()
    words = [word.format(me=spoiled_people[3]) for word in found.words]
    return (*words, *small, *more)


def test_dry_runs_write_nothing_anywhere(spoiled_people):
    before = rows_digest(), keys_digest()
    wrote = []
    for found in JOBS:
        if JobFlag.DRY_RUN in found.flags:
            outcome = Outcome(found.make(), *words_of(found, spoiled_people, "--dry-run"))
            after = rows_digest(), keys_digest()
            if after != before:
                wrote.append((found.name, outcome.code, differences(before, after)))
                before = after
    assert wrote == []


def differences(before, after):
    return [
        name
        for one, other in zip(before, after, strict=True)
        for name in one.keys() | other.keys()
        if one.get(name) != other.get(name)
    ]


@pytest.mark.slow
def test_killed_and_resumed_each_ends_where_a_whole_run_does(spoiled_people):
    """kill -9 after the first batch, a run that goes on, and one more that finds nothing to do."""
    unfinished = []
    # Decisions on accounts last: their changes have follow-ups, which a replay creates again.
    for found in sorted(JOBS, key=lambda found: found.name.startswith("accounts ")):
        words = words_of(found, spoiled_people)
        killed = run_and_kill(found.make(), words)
        more = ("--resume",) if JobFlag.RESUME in found.flags else ()
        Outcome(found.make(), *words, *more)
        drain_all()
        before = rows_digest()
        outcome = Outcome(found.make(), *words, "--json")
        changed = json.loads(outcome.out)["changed"]
        drain_all()
        if changed or rows_digest() != before:
            where = differences((before,), (rows_digest(),))
            unfinished.append((found.name, killed, changed, where))
    assert unfinished == []
    assert JobRun.objects.filter(state=JobRun.State.DIED).count() >= len(JOBS) // 2


def run_and_kill(job, words):
    """In a child of this process, which dies as soon as a batch was taken. Whether it did."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        take = Driver._take

        def take_and_die(self, batch):
            take(self, batch)
            os.kill(os.getpid(), signal.SIGKILL)

        Driver._take = take_and_die
        try:
            Outcome(job, *words)
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize("found", JOBS, ids=lambda found: found.name)
def test_flags_that_are_not_declared_are_refused(found):
    parser = found.make().create_parser("manage.py", found.name)
    options = {word for action in parser._actions for word in action.option_strings}
    declared = {f"--{flag.value.replace('_', '-')}" for flag in found.flags} | {"--json"}
    contract = {f"--{flag.value.replace('_', '-')}" for flag in JobFlag}
    assert options & (contract | {"--json"}) == declared
