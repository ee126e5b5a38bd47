"""The viewer's conversations: threads with direct posts, as lists of messages."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from pages.api_client import ApiRefused
from pages.composer import NOT_FOUND, message_composer
from pages.site import Entity
from pages.views.base import Context, WebPage
from pages.views.timelines import cursors_of
from posts.ids import PostId

CONVERSATIONS, STATUSES = "/api/v1/conversations", "/api/v1/statuses"
ACCOUNTS, MOST_AT_ONCE = "/api/v1/accounts", 40
Talk = dict[str, Any]


def list_talks(page: WebPage) -> Context:
    """The conversations that the query of the page asks for. One request to the API."""
    answer = page.api.get(CONVERSATIONS, cursors_of(page.request))
    return {"conversations": answer.body, "older": answer.older}


class ConversationsPage(WebPage):
    """The conversation with the latest post first. `?open=`: the one that is next to the list."""

    filter_place = "thread"
    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw(
            "conversations.html", {"talk_id": request.GET.get("open"), **list_talks(self)}
        )


class ConversationPage(WebPage):
    """The messages of a conversation, the oldest first, with a form for the next one.

    `?seen=`: the latest that an open page shows. The answer to its script is 204 if it is still so.
    """

    filter_place = "thread"
    needs_viewer = True

    def get(self, request: HttpRequest, conversation_id: PostId) -> HttpResponseBase:
        talk_id = conversation_id.public
        talk = self._find(f"{CONVERSATIONS}/{talk_id}")
        messages = self._read_messages(talk_id, talk)
        if not messages:
            raise Http404
        if self.is_partial and request.GET.get("seen") == messages[-1]["id"]:
            return HttpResponse(status=204)
        people = self._people_of(messages)
        addressed = self._addressed_by(messages[-1], people)
        names = [account["display_name"] or account["acct"] for account in people]
        context = {
            "talk": talk, "talk_id": talk_id, "messages": messages, "people": people,
            "is_to_some": len(addressed) < len(people),
            "title": ", ".join(names) or gettext("Note to myself"),
            "composer": message_composer(self, talk_id, messages[-1], addressed),
            # Next to it on a wide screen.
            **({} if self.is_partial else list_talks(self)),
        }  # fmt: skip
        return self.draw("conversation.html", context)

    def _read_messages(self, talk_id: str, talk: Talk | None) -> list[Talk]:
        """A conversation has the id of the first post of its thread. That post may be gone, or be
        for others too: then from the latest message upwards. So is a very long conversation."""
        start = self._find(f"{STATUSES}/{talk_id}")
        if start is None or start["visibility"] != "direct":
            start = talk["last_status"] if talk else None
        if start is None:
            return []
        messages = self._read_thread(start)
        # A thread is cut after so many answers to answers, and each message answers the one before.
        if talk and all(message["id"] != talk["last_status"]["id"] for message in messages):
            messages = self._read_thread(talk["last_status"])
        return messages

    def _read_thread(self, start: Talk) -> list[Talk]:
        """The direct posts around one, the oldest first."""
        thread = self.api.get(f"{STATUSES}/{start['id']}/context").body
        posts = [*thread["ancestors"], start, *thread["descendants"]]
        messages = [post for post in posts if post["visibility"] == "direct"]
        return sorted(messages, key=lambda post: int(post["id"]))

    def _people_of(self, messages: list[Talk]) -> list[Entity]:
        """The authors of messages, and the people that the latest one names; not the viewer. People
        who are gone are left out. A request to the API for MOST_AT_ONCE who have not written."""
        named = [message["account"] for message in messages]
        known = {account["id"] for account in named}
        others = [
            mention["id"] for mention in messages[-1]["mentions"] if mention["id"] not in known
        ]
        loaded = [
            account
            for start in range(0, len(others), MOST_AT_ONCE)
            for account in self.api.get(
                ACCOUNTS, {"id[]": others[start : start + MOST_AT_ONCE]}
            ).body
        ]
        people = {account["id"]: account for account in [*named, *loaded]}
        people.pop(self.signed_in["id"], None)
        return list(people.values())

    def _addressed_by(self, latest: Talk, people: list[Entity]) -> list[Entity]:
        """Who gets the next message: the others of the latest one, as in the API. Who wrote earlier
        may not see it, so they must not get the answer to it. All, if it is to no other."""
        ids = {latest["account"]["id"], *(mention["id"] for mention in latest["mentions"])}
        if ids == {self.signed_in["id"]}:
            return people
        return [account for account in people if account["id"] in ids]

    def _find(self, path: str) -> Talk | None:
        """None if there is none. A new conversation is in no list until it is delivered."""
        try:
            talk: Talk = self.api.get(path).body
        except ApiRefused as refusal:
            if refusal.status != NOT_FOUND:
                raise
            return None
        return talk


class ReadConversation(WebPage):
    """Marks a conversation as read, up to the latest message that the page had, and leads to it.

    A script of the page says so when the page is seen; without scripts there is a button. To open
    the page is not enough: browsers fetch pages before a person opens them.
    """

    needs_viewer = True
    shows_unread = True

    def post(self, request: HttpRequest, conversation_id: PostId) -> HttpResponseBase:
        sent = {"up_to": request.POST.get("up_to", "")}
        self.api.send("POST", f"{CONVERSATIONS}/{conversation_id.public}/read", sent)
        if self.is_partial:
            return self.draw("parts/unread_messages.html", {"is_replacement": True})
        return self.go_back(f"/conversations/{conversation_id.public}#end")


class DeleteConversation(WebPage):
    """Takes a conversation off the list until its next post."""

    needs_viewer = True

    def post(self, request: HttpRequest, conversation_id: PostId) -> HttpResponseBase:
        self.api.send("DELETE", f"{CONVERSATIONS}/{conversation_id.public}")
        return HttpResponse() if self.is_partial else self.go_back("/conversations")
