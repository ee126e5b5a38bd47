"""What Phanpy and Elk read in a session answers on a fresh instance: no endpoint is missing."""

from tests.callers import Caller
from tests.world import drain_all, make_accounts

READS = """
/.well-known/nodeinfo /.well-known/oauth-authorization-server /nodeinfo/2.0 /oauth/userinfo
/api/v1/instance /api/v2/instance /api/v1/instance/rules /api/v1/instance/extended_description
/api/v1/instance/translation_languages /api/v1/custom_emojis /api/v1/announcements
/api/v1/apps/verify_credentials /api/v1/accounts/verify_credentials /api/v1/preferences
/api/v1/accounts/lookup?acct={name} /api/v1/accounts/search?q=person /api/v2/search?q=person
/api/v1/accounts/relationships?id[]={you} /api/v1/accounts/familiar_followers?id[]={you}
/api/v1/accounts?id[]={you} /api/v1/accounts/{you} /api/v1/accounts/{you}/lists
/api/v1/accounts/{you}/statuses /api/v1/accounts/{you}/statuses?pinned=true
/api/v1/accounts/{you}/statuses?only_media=true&exclude_replies=true&exclude_reblogs=true
/api/v1/accounts/{you}/followers /api/v1/accounts/{you}/following
/api/v1/accounts/{you}/featured_tags /api/v1/accounts/{you}/endorsements
/api/v1/timelines/home /api/v1/timelines/public?local=true /api/v1/timelines/tag/tea
/api/v1/timelines/list/{list} /api/v1/lists /api/v1/lists/{list} /api/v1/lists/{list}/accounts
/api/v1/statuses/{post} /api/v1/statuses/{post}/context /api/v1/statuses?id[]={post}
/api/v1/statuses/{post}/history /api/v1/statuses/{post}/source
/api/v1/statuses/{post}/reblogged_by /api/v1/statuses/{post}/favourited_by
/api/v1/notifications /api/v2/notifications /api/v1/notifications/unread_count
/api/v2/notifications/unread_count /api/v1/notifications/policy /api/v2/notifications/policy
/api/v1/notifications/requests /api/v1/notifications/requests/merged
/api/v1/markers?timeline[]=home&timeline[]=notifications /api/v1/conversations
/api/v1/bookmarks /api/v1/favourites /api/v1/followed_tags /api/v1/featured_tags
/api/v1/featured_tags/suggestions /api/v1/tags/tea /api/v1/filters /api/v2/filters
/api/v1/follow_requests /api/v1/blocks /api/v1/mutes /api/v1/domain_blocks /api/v1/endorsements
/api/v1/suggestions /api/v2/suggestions /api/v1/directory /api/v1/scheduled_statuses
/api/v1/trends/tags /api/v1/trends/statuses /api/v1/trends/links
"""


def test_a_session_of_a_client_gets_all_its_answers(world: None) -> None:
    me, you = make_accounts(2)
    caller = Caller(me, "read write follow push profile")
    made = {
        "you": str(you),
        "name": caller.get(f"/api/v1/accounts/{you}").json()["username"],
        "post": caller.post("/api/v1/statuses", {"status": "some #tea"}).json()["id"],
        "list": caller.post("/api/v1/lists", {"title": "close"}).json()["id"],
    }
    drain_all()
    answers = {path: caller.get(path.format(**made)) for path in READS.split()}
    assert {path: one.content for path, one in answers.items() if one.status_code != 200} == {}
    assert all(answer.json() is not None for answer in answers.values())
