"""The files of GetStream and of Mastodon, as records."""

import gzip
import json
import tarfile
import zipfile

import pytest

from accounts.identities.queries import load_account_ids
from accounts.models import Account
from infra.importing.mastodon import text_of_html
from infra.sharding.buckets import shard_of
from posts.external.queries.posts import load_known_posts
from tests.callers import Caller
from tests.integration.importing.imports import account, ids_of, run_on
from tests.truth import live_pairs

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
ANN = "https://old.example/users/ann"
STREAM = [
    ("user", {"id": "Ann.B", "custom": {"name": "Ann B"}, "created_at": "2020-01-01T00:00:00Z"}),
    ("user", {"id": "bob", "custom": {"username": "bobby"}}),
    ("user", {"id": "gone", "deleted_at": "2021-01-01T00:00:00Z"}),
    ("feed", {"group_id": "user", "id": "bob", "fid": "user:bob", "created_by_id": "bob"}),
    ("follow", {"source_fid": "timeline:Ann.B", "target_fid": "user:bob",
                "created_at": "2020-02-01T00:00:00Z", "push_preference": "all"}),
    ("follow", {"source_fid": "timeline:bob", "target_fid": "user:bob"}),
    ("follow", {"source_fid": "timeline:bob", "target_fid": "user:Ann.B", "status": "pending"}),
    ("follow", {"source_fid": "timeline:bob", "target_fid": "stories:Ann.B"}),
    ("activity", {"id": "a1", "type": "post", "user_id": "bob", "fids": ["user:bob"],
                  "text": "hi", "created_at": "2020-03-01T00:00:00Z",
                  "custom": {"mood": "glad", "empty": ""}}),
    ("activity", {"id": "a2", "type": "share", "user_id": "Ann.B", "fids": ["user:Ann.B"],
                  "parent_id": "a1", "created_at": "2020-03-02T00:00:00Z"}),
    ("activity", {"id": "a3", "type": "post", "user_id": "bob", "fids": ["user:bob"],
                  "text": "x", "poll_id": "p", "created_at": "2020-03-01T00:00:00Z"}),
    ("comment", {"id": "c1", "object_type": "activity", "object_id": "a1", "user_id": "Ann.B",
                 "text": "yes", "created_at": "2020-03-03T00:00:00Z"}),
    ("reaction", {"user_id": "bob", "activity_id": "a1", "type": "like"}),
]  # fmt: skip


NO_PLACE = ["not kept: feed: 1"]


def run_stream(kind, tmp_path):
    file = tmp_path / "stream.jsonl.gz"
    lines = (json.dumps({"type": name, "data": data}) for name, data in STREAM)
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    return run_on(kind, file, "--format", "getstream")


def test_getstream(world, tmp_path):
    outcome = run_stream("accounts", tmp_path)
    assert outcome.out.splitlines() == [
        "line 3: the user is deleted", *NO_PLACE, "11 lines done, 2 changed, 1 failed",
    ]  # fmt: skip
    known = load_account_ids(["Ann.B", "bob"])
    ann, bob = known["Ann.B"], known["bob"]
    row = Account.objects.on(shard_of(ann)).get(pk=ann)
    assert (row.username, row.display_name, row.created_at.year) == ("ann_b", "Ann B", 2020)
    outcome = run_stream("follows", tmp_path)
    assert outcome.out.splitlines() == [
        "line 7: the follow is pending",
        *NO_PLACE,
        "not kept: follow: timeline of stories: 1",
        "10 lines done, 1 changed, 1 failed",
    ]
    assert live_pairs() == {(ann, bob)}
    outcome = run_stream("posts", tmp_path)
    assert outcome.out.splitlines() == [
        "line 11: poll_id is not imported",
        "not kept: activity.fids: 2",
        "not kept: comment.object_type: 1",
        *NO_PLACE,
        "11 lines done, 3 changed, 1 failed",
    ]
    original = load_known_posts(["a1"])["a1"].post_id
    shown = Caller(ann).get(f"/api/v1/statuses/{original.public}").json()
    assert shown["custom"] == {"mood": "glad", "empty": ""}
    assert (shown["replies_count"], shown["reblogs_count"], shown["reblogged"]) == (1, 1, True)


def create(number, to, cc=(), **more):
    note = {
        "id": f"{ANN}/statuses/{number}", "type": "Note", "content": f"<p>post {number}</p>",
        "published": f"2020-01-0{number}T00:00:00Z", "sensitive": False, "summary": None,
        "inReplyTo": None, "attachment": [], **more,
    }  # fmt: skip
    return {
        "id": f"{ANN}/statuses/{number}/activity", "type": "Create", "actor": ANN,
        "published": note["published"], "to": list(to), "cc": list(cc), "object": note,
    }  # fmt: skip


OUTBOX = [
    create(2, [f"{ANN}/followers"], contentMap={"en": "x"}),
    create(1, [PUBLIC], [f"{ANN}/followers"], summary="careful", sensitive=True),
    create(3, [f"{ANN}/followers"], [PUBLIC], inReplyTo=f"{ANN}/statuses/1"),
    create(4, ["https://b.example/users/bob"]),
    create(5, [PUBLIC], inReplyTo="https://b.example/users/bob/statuses/9"),
    create(6, [PUBLIC], attachment=[{"type": "Document"}]),
    {**create(7, [PUBLIC]), "type": "Announce", "object": "https://b.example/1",
     "id": f"{ANN}/statuses/7/activity"},
]  # fmt: skip
ACTOR = {
    "id": ANN, "type": "Person", "preferredUsername": "Ann", "name": "Ann B",
    "summary": "<p>one<br>two</p>", "published": "2018-05-05T00:00:00Z",
    "manuallyApprovesFollowers": True, "discoverable": False,
    "attachment": [{"type": "PropertyValue", "name": "Web", "value": "<a href='x'>x.example</a>"}],
}  # fmt: skip
FOLLOWING = (
    "Account address,Show boosts,Notify on new posts,Languages\n"
    'u-bob,true,false,\nbob@old.example,false,true,"en, de"\ncyd@b.example,true,false,\n'
)
FILES = {
    "actor.json": json.dumps(ACTOR),
    "outbox.json": json.dumps({"orderedItems": OUTBOX}),
    "following_accounts.csv": FOLLOWING,
}


@pytest.fixture(params=["folder", "zip", "tar.gz"])
def archive(request, tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    if request.param == "folder":
        return folder
    packed = tmp_path / f"archive.{request.param}"
    if request.param == "zip":
        with zipfile.ZipFile(packed, "w") as file:
            for name in FILES:
                file.write(folder / name, name)
    else:
        with tarfile.open(packed, "w:gz") as file:
            for name in FILES:
                file.add(folder / name, name)
    return packed


def test_mastodon(world, tmp_path, archive):
    lines = tmp_path / "others.jsonl"
    lines.write_text(json.dumps({**account("bob"), "id": "bob@old.example"}))
    run_on("accounts", lines)
    assert run_on("accounts", archive, "--format", "mastodon").code == 0
    known = load_account_ids(["ann@old.example", "bob@old.example"])
    ann, bob = known["ann@old.example"], known["bob@old.example"]
    row = Account.objects.on(shard_of(ann)).get(pk=ann)
    assert (row.username, row.note, row.is_locked, row.is_discoverable) == (
        "ann", "one\ntwo", True, False,
    )  # fmt: skip
    assert row.fields == [{"name": "Web", "value": "x.example"}]
    told = run_on("follows", archive, "--format", "mastodon").out.splitlines()
    assert told == [
        "line 1: 'u-bob' is no address of an account",
        "line 3: there is no account 'cyd@b.example': import accounts first",
        "1 lines done, 1 changed, 2 failed",
    ]
    assert live_pairs() == {(ann, bob)}
    [shown] = Caller(ann).get(f"/api/v1/accounts/relationships?id={bob}").json()
    assert (shown["languages"], shown["showing_reblogs"]) == (["en", "de"], False)
    told = run_on("posts", archive, "--format", "mastodon").out.splitlines()
    assert [line.partition(":")[0] for line in told[:-1]] == [f"line {n}" for n in (4, 5, 6, 7)]
    assert told[-1] == "3 lines done, 3 changed, 4 failed"
    shown = Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json()
    facts = [(one["visibility"], one["spoiler_text"]) for one in shown]
    assert facts == [("unlisted", ""), ("private", ""), ("public", "careful")]
    assert "<p>post 1</p>" in shown[2]["content"]
    again = run_on("posts", archive, "--format", "mastodon").out
    assert again.endswith("3 lines done, 0 changed, 4 failed\n")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b<br/>c</p>", "a\n\nb\nc"),
        ('<p>to <a href="x">@<span>bob</span></a> &amp; all</p>', "to @bob & all"),
        ('<a href="https://x.example/long"><span class="invisible">https://</span>'
         '<span class="ellipsis">x.example/lo</span><span class="invisible">ng</span></a>',
         "https://x.example/long"),
        ("", ""),
    ],
)  # fmt: skip
def test_html_as_text(html, text):
    assert text_of_html(html) == text


@pytest.mark.parametrize("content", [b"", b"{}", b"\x1f\x8bxx"])
def test_a_file_that_is_no_archive_ends_the_command(world, tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(Exception, match=r"a\.zip"):
        run_on("accounts", tmp_path / "a.zip", "--format", "mastodon")


def test_a_damaged_file_of_lines_ends_the_command(world, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"{}\n" * 1000)[:20])
    with pytest.raises(Exception, match=r"a\.gz"):
        run_on("accounts", tmp_path / "a.gz")
    with pytest.raises(Exception, match=r"nix"):
        run_on("accounts", tmp_path / "nix")
    assert ids_of() == []
