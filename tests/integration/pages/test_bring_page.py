"""People bring lists from another server: CSV files, done line by line."""

import csv
import io
import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from accounts.types import Restriction
from infra.sharding.buckets import shard_of
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import execute
from integrations.brought_lists.actions import delete_old_files, do_brought_lines
from integrations.brought_lists.parse import COLUMNS, MOST_BYTES, MOST_LINES, OTHER_KINDS
from integrations.brought_lists.queries import find_progress, list_lines
from relations.lists.queries.lists import list_account_lists
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.importing.imports import account, ids_of, post, run_import
from tests.integration.pages.browsing import Browser
from tests.truth import forward_edges
from tests.world import drain_all, make_account, publish, restrict

PAGE = "/settings/bring"
FOLLOWS, BLOCKS, MUTES, BOOKMARKS, LISTS = range(5)
HEADERS = {int(kind): ",".join(columns) for kind, columns in COLUMNS.items()}


@pytest.fixture
def three(world):
    return [make_account(name) for name in ("ann", "bob", "cyd")]


def bring(owner, kind, text):
    file = SimpleUploadedFile("list.csv", text.encode() if isinstance(text, str) else text)
    return Browser(owner).send(PAGE, {"kind": str(kind), "file": file})


def do_all(turns=3):
    for _ in range(turns):
        for alias in shard_aliases():
            do_brought_lines(alias)
    drain_all()


def finish(owner, kind, text):
    """Says yes if the page asks back."""
    answer = bring(owner, kind, text)
    if answer.status_code == 200:
        answer = Browser(owner).send(PAGE, {"kind": str(kind), "content": text})
    assert answer.status_code == 303, answer.content
    do_all()
    progress = find_progress(owner)
    assert progress.pending == 0
    assert progress.finished_at
    return {line.number: line.reason for line in list_lines(owner, 100) if line.reason}


def test_follows_are_begun_by_old_and_new_addresses_and_each_line_has_its_result(three, tmp_path):
    ann, bob, cyd = three
    imported = {**account("dan"), "id": "dan@old.example"}
    run_import("accounts", tmp_path, [imported])
    text = (
        "Account address,Show boosts,Notify on new posts,Languages\n"
        "bob@localhost:8000,false,true,\n"
        "@Dan@old.example,true,false,\n"
        "no@where.example,true,false,\n"
        'cyd,true,false,"de, pt-BR"\n'
        "cyd,true,false,german\n"
        "ann,true,false,\n"
    )
    refused = finish(ann, FOLLOWS, text)
    assert {number: bool(reason) for number, reason in refused.items()} == {3: 1, 5: 1, 6: 1}
    followed = Caller(ann).get(f"/api/v1/accounts/{ann}/following").json()
    assert {one["username"] for one in followed} == {"bob", "cyd", "dan"}
    relationship = Caller(ann).get(f"/api/v1/accounts/relationships?id={cyd}").json()[0]
    assert relationship["languages"] == ["de", "pt-BR"]
    relationship = Caller(ann).get(f"/api/v1/accounts/relationships?id={bob}").json()[0]
    assert (relationship["showing_reblogs"], relationship["notifying"]) == (False, True)
    page = Browser(ann).read(PAGE)
    assert "3 of 6 lines done, 3 refused" in page
    assert "There is no such account here" in page
    rows = [*csv.reader(io.StringIO(Browser(ann).read(f"{PAGE}/result")))]
    assert rows[0] == [
        "Line", "Account address", "Show boosts", "Notify on new posts", "Languages", "Result",
        "Reason",
    ]  # fmt: skip
    assert [row[-2] for row in rows[1:]] == [
        "done", "done", "refused", "done", "refused", "refused",
    ]  # fmt: skip


def test_blocks_mutes_lists_and_bookmarks(three, tmp_path):
    ann, bob, cyd = three
    mine = publish(bob)
    run_import("accounts", tmp_path, [account("dan")])
    url = "https://old.example/users/dan/statuses/1"
    run_import("posts", tmp_path, [{**post(1, "dan"), "id": url}])
    assert finish(ann, FOLLOWS, "bob\ncyd\n") == {}
    assert finish(ann, LISTS, "Friends,bob\nFriends,cyd\nFriends,nix\n").keys() == {3}
    [made] = list_account_lists(ann)
    members = Caller(ann).get(f"/api/v1/lists/{made.list_id}/accounts").json()
    assert {one["id"] for one in members} == {str(bob), str(cyd)}
    here = f"http://localhost:8000/@bob/{mine.public}"
    assert finish(ann, BOOKMARKS, f"{here}\n{url}\nhttps://x.example/1\n").keys() == {3}
    assert len(Caller(ann).get("/api/v1/bookmarks").json()) == 2
    assert finish(ann, MUTES, "Account address,Hide notifications\nbob,false\n") == {}
    muted = Caller(ann).get(f"/api/v1/accounts/relationships?id={bob}").json()[0]
    assert (muted["muting"], muted["muting_notifications"]) == (True, False)
    assert finish(ann, BLOCKS, "Cyd@localhost:8000\n") == {}
    assert Caller(ann).get("/api/v1/blocks").json()[0]["id"] == str(cyd)


@pytest.mark.parametrize("kind", [FOLLOWS, BLOCKS, MUTES, LISTS])
def test_the_result_does_not_tell_who_is_suspended(three, kind):
    ann, bob, _ = three
    assert finish(ann, FOLLOWS, "bob\n") == {}
    restrict(bob, Restriction.SUSPENDED)
    drain_all()
    list_name = "Friends," if kind == LISTS else ""
    hidden, unknown = finish(ann, kind, f"{list_name}bob\n{list_name}nix\n").values()
    assert hidden == unknown


def test_a_formula_in_a_file_comes_back_as_text_and_is_read_as_it_was(three):
    ann = three[0]
    assert finish(ann, FOLLOWS, "bob\n") == {}
    for _ in range(2):  # as it was, and as the result has it
        text = "Friends,=1+1\n=cmd,bob\n'=cmd,bob\n"
        finish(ann, LISTS, text)
        rows = [*csv.reader(io.StringIO(Browser(ann).read(f"{PAGE}/result")))]
        assert [row[1:3] for row in rows[1:]] == [
            ["Friends", "'=1+1"], ["'=cmd", "bob"], ["'=cmd", "bob"],
        ]  # fmt: skip
    assert [one.title for one in list_account_lists(ann)] == ["=cmd"]


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        (FOLLOWS, "", "no lines"),
        (FOLLOWS, "Account address\n", "no lines"),
        (FOLLOWS, "Account address\nbob\n".encode("utf-16"), "in UTF-8"),
        (FOLLOWS, "bäb\n".encode("latin-1"), "in UTF-8"),
        (FOLLOWS, "a\0b\n", "no CSV file"),
        (FOLLOWS, '"never ends', "no CSV file"),
        (BOOKMARKS, "Account address\nbob\n", "another kind"),
        (FOLLOWS, "Show boosts,Hide notifications\ntrue,true\n", "another kind"),
        (FOLLOWS, "bob\n" * (MOST_LINES + 1), "5,000 lines"),
        (FOLLOWS, b"x" * (MOST_BYTES + 1), "KB"),
        (9, "bob\n", "Choose a list"),
    ],
)
def test_a_file_that_is_none_is_refused(three, kind, text, fault):
    answer = bring(three[0], kind, text)
    assert answer.status_code == 422
    assert fault in answer.content.decode()
    assert find_progress(three[0]) is None


@pytest.mark.parametrize("chosen", [*HEADERS])
@pytest.mark.parametrize("written", [*HEADERS])
def test_a_file_with_a_header_is_never_done_as_another_list(three, chosen, written):
    """The one column of a file of blocks does not tell it from follows and mutes."""
    text = f"{HEADERS[written].upper()}\n" + "bob,bob\n"
    answer = bring(three[0], chosen, text)
    is_unsure = written == BLOCKS and chosen in (FOLLOWS, BLOCKS, MUTES)
    statuses = {True: 303, False: 422}
    assert answer.status_code == (200 if is_unsure else statuses[chosen == written])
    if answer.status_code == 422 and written != BLOCKS:
        assert OTHER_KINDS[written] in answer.content.decode()
    assert (find_progress(three[0]) is not None) == (answer.status_code == 303)


@pytest.mark.parametrize(("between", "end"), [(";", "\r\n"), ("\t", "\n"), (",", "\r")])
def test_a_file_that_a_program_for_tables_saved_says_its_kind(three, between, end):
    """They write semicolons or tabs, and ends of lines of their own."""
    text = f"\ufeffAccount address{between}Hide notifications{end}bob{between}false{end}"
    assert "people you mute" in bring(three[0], FOLLOWS, text).content.decode()
    assert bring(three[0], MUTES, text).status_code == 303
    assert find_progress(three[0]).lines == 1


@pytest.mark.parametrize("kind", [*HEADERS])
def test_a_file_without_a_header_is_asked_about_with_its_first_lines(three, kind):
    lines = ["x & 1,bob", "2", '"3"', "4"]
    text = "\r\n".join(lines)
    page = bring(three[0], kind, text).content.decode()
    assert find_progress(three[0]) is None
    shown = re.findall(r"<li><bdi>(.*?)</bdi></li>", page)
    assert (shown[0][:9], shown[1:]) == ("x &amp; 1", ["2", "3"])
    [kept] = re.findall(r"<textarea name=\"content\" hidden>\n(.*)</textarea>", page, re.DOTALL)
    sent = {"kind": str(kind), "content": unescape(kept)}
    assert Browser(three[0]).send(PAGE, sent).status_code == 303
    assert find_progress(three[0]).lines == len(lines)


def test_a_file_as_large_as_allowed_may_come_back_from_a_form(three):
    lines = ["x" * (MOST_BYTES // 1_000 - 1)] * 1_000
    sent = {"kind": str(FOLLOWS), "content": "\r\n".join(lines)}
    assert len(sent["content"]) > MOST_BYTES
    assert Browser(three[0]).send(PAGE, sent).status_code == 303


def test_a_second_file_waits_for_the_end_of_the_first(three):
    ann, *_ = three
    bring(ann, FOLLOWS, f"{HEADERS[FOLLOWS]}\nbob\n")
    answer = bring(ann, FOLLOWS, f"{HEADERS[FOLLOWS]}\ncyd\n")
    assert "not done yet" in answer.content.decode()
    do_all()
    assert finish(ann, FOLLOWS, "cyd\n") == {}
    assert find_progress(ann).lines == 1


def test_killed_after_a_line_it_is_done_again_and_changes_nothing(three):
    ann, bob, cyd = three
    bring(ann, FOLLOWS, f"{HEADERS[FOLLOWS]}\nbob\ncyd\n")
    with dying_at("brought_lists.line_done"):
        do_all()
    assert find_progress(ann).pending == 2
    do_all()
    assert find_progress(ann).done == 2
    edges = forward_edges()
    assert edges[ann, bob].revision == edges[ann, cyd].revision == 1


def test_the_limit_of_a_day_makes_it_wait_and_refuses_no_line(three):
    ann, *_ = three
    with override_settings(FOLLOWS_PER_DAY=1):
        bring(ann, FOLLOWS, f"{HEADERS[FOLLOWS]}\nbob\ncyd\n")
        do_all()
    progress = find_progress(ann)
    assert (progress.done, progress.pending, progress.finished_at) == (1, 1, None)
    assert progress.goes_on_at > progress.started_at
    alias = shard_of(ann)
    execute(alias, "UPDATE integrations_broughtfile SET goes_on_at = now()")
    do_all()
    assert find_progress(ann).done == 2


def test_a_frozen_account_does_nothing_more(three):
    ann, *_ = three
    bring(ann, FOLLOWS, f"{HEADERS[FOLLOWS]}\nbob\n")
    restrict(ann, Restriction.FROZEN)
    do_all()
    assert [line.reason for line in list_lines(ann, 9)] == ["The account may not write"]
    assert not forward_edges()


def test_results_are_deleted_after_a_month(three):
    ann, *_ = three
    finish(ann, FOLLOWS, "bob\n")
    alias = shard_of(ann)
    delete_old_files(alias)
    assert find_progress(ann)
    late = "UPDATE integrations_broughtfile SET finished_at = now() - interval '31 days'"
    execute(alias, late)
    delete_old_files(alias)
    assert find_progress(ann) is None
    assert list_lines(ann, 9) == []


def test_guests_are_sent_to_the_sign_in_page(three):
    assert Browser().client.get(PAGE).status_code in (302, 303)
    assert ids_of() == []
