"""The archive of an account's data: everything that its owner put in, for the owner."""

import csv
import io
import random
import time
from pathlib import Path
from zipfile import ZipFile

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from accounts.errors import AccountNotFound
from infra.sharding.bounded.breaker import breaker_of, reset_breakers
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.jobs.export_account import stream_account
from moderation.types import DecisionKind
from moderation.verbs import ExportAccount
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.types import Draft, Kind, NewPoll
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.types import FollowOptions
from tests.people import decide
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind


def export(account_id: int, path: Path) -> ZipFile:
    call_command(ExportAccount(), account=account_id, to=path, verbosity=0)
    return ZipFile(path)


def lines(archive: ZipFile, name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(archive.read(name).decode())))


@pytest.mark.usefixtures("delivered_at_once")
def test_all_of_an_account_is_in_the_archive(ann, tmp_path, settings):
    settings.PUBLIC_URL = "https://tide.example"
    bob, cyd, dan = (make_account(name) for name in ("bob", "cyd", "dan"))
    follow(ann, bob, FollowOptions(reposts=False, notify=True, languages=("de", "pt-BR")))
    follow(dan, ann)
    block(ann, cyd)
    mute(ann, dan, hides_notifications=False)
    add_members(ann, create_account_list(ann, "tea, milk").list_id, [bob])
    theirs = publish(bob, "hello")
    mark_post(ann, theirs, Kind.BOOKMARK, True)
    add_own_tag(ann, TagListKind.FOLLOWED, "Tea")
    choose_at_home(ann, True)
    first = publish(ann, "first")
    poll = NewPoll(("a", "b"), False, False, int(time.time()) + 600)
    create_post(ann, Draft("second", poll=poll, quoted=theirs))
    archive = export(ann, tmp_path / "ann.zip")
    account = orjson.loads(archive.read("account.json"))
    assert (account["username"], account["followed_tags_at_home"]) == ("ann", True)
    posts = [orjson.loads(line) for line in archive.read("posts.jsonl").splitlines()]
    assert [post["content"] for post in posts] == ["<p>second</p>", "<p>first</p>"]
    assert posts[1]["id"] == first.public
    assert posts[0]["poll"]["options"][0]["title"] == "a"
    assert posts[0]["quote"]["quoted_status"]["id"] == theirs.public
    assert lines(archive, "following_accounts.csv") == [
        ["Account address", "Show boosts", "Notify on new posts", "Languages"],
        ["bob@tide.example", "false", "true", "de, pt-BR"],
    ]
    assert lines(archive, "follower_accounts.csv") == [["Account address"], ["dan@tide.example"]]
    assert lines(archive, "blocked_accounts.csv") == [["cyd@tide.example"]]
    muted = [["Account address", "Hide notifications"], ["dan@tide.example", "false"]]
    assert lines(archive, "muted_accounts.csv") == muted
    assert lines(archive, "lists.csv") == [["tea, milk", "bob@tide.example"]]
    assert orjson.loads(archive.read("lists.jsonl"))["exclusive"] is False
    assert lines(archive, "bookmarks.csv")[0][0].endswith(theirs.public)
    assert lines(archive, "favourites.csv") == []
    assert lines(archive, "followed_tags.csv") == [["Tea"]]


def test_a_shard_that_hangs_ends_it_before_its_first_byte(ann):
    """The account is cached. Else the person would get an empty file."""
    assert ZipFile(io.BytesIO(b"".join(stream_account(ann))))
    breaker_of(shard_of(ann)).is_open = True
    try:
        with pytest.raises(OperationalError):
            stream_account(ann)
    finally:
        reset_breakers()


def test_lists_longer_than_a_page_are_whole(ann, tmp_path):
    for account_id in make_accounts(85):
        follow(ann, account_id)
    ids = [publish(ann, str(n)).public for n in range(85)]
    archive = export(ann, tmp_path / "ann.zip")
    assert len(set(map(tuple, lines(archive, "following_accounts.csv")))) == 86
    posts = archive.read("posts.jsonl").splitlines()
    assert [orjson.loads(line)["id"] for line in posts] == ids[::-1]


def test_unknown_account_has_no_archive(ann, tmp_path):
    with pytest.raises(AccountNotFound):
        export(ann + 1, tmp_path / "ann.zip")
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_not_overwritten(ann, tmp_path):
    path = tmp_path / "ann.zip"
    path.write_text("mine")
    with pytest.raises(CommandError, match="exists already"):
        export(ann, path)
    assert path.read_text() == "mine"


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("moderation.jobs.export_account.PIECE_BYTES", 500)


def test_a_stream_has_the_files_of_the_archive(ann, tmp_path, small_pieces):
    for number in range(100):
        publish(ann, f"{number} {random.Random(number).randbytes(200).hex()}")
    pieces = list(stream_account(ann))
    assert len(pieces) > 2 and max(map(len, pieces)) < 40_000
    streamed, written = (
        ZipFile(io.BytesIO(b"".join(pieces))), export(ann, tmp_path / "ann.zip")
    )  # fmt: skip
    assert streamed.testzip() is None
    assert {name: streamed.read(name) for name in streamed.namelist()} == {
        name: written.read(name) for name in written.namelist()
    }


def test_a_stream_that_is_given_up_ends_in_the_middle_of_a_file(ann, small_pieces):
    for number in range(100):
        publish(ann, f"{number} {random.Random(number).randbytes(200).hex()}")
    pieces = stream_account(ann)
    assert next(pieces) and next(pieces)
    pieces.close()
    assert list(pieces) == []


def test_an_unknown_account_is_refused_before_its_stream_begins(ann):
    with pytest.raises(AccountNotFound):
        stream_account(ann + 1)


def test_the_notices_of_the_moderators_are_in_it_with_the_appeals(ann, tmp_path):
    for kind in (DecisionKind.WARN, DecisionKind.LIMIT):
        decision = decide(ann, kind)
    file_appeal(ann, decision.pk, "I was kind")
    drain_all()
    with export(ann, tmp_path / "ann.zip") as archive:
        notices = [orjson.loads(line) for line in archive.read("notices.jsonl").splitlines()]
    assert [notice["action"] for notice in notices] == ["silence", "none"]
    assert (notices[0]["text"], notices[0]["appeal"]["text"]) == ("spam", "I was kind")
