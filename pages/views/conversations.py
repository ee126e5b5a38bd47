"""The viewer's conversations: threads with direct posts."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from pages.views.base import WebPage
from pages.views.timelines import cursors_of
from posts.ids import PostId

CONVERSATIONS = "/api/v1/conversations"


class ConversationsPage(WebPage):
    """The conversation with the latest post first."""

    filter_place = "thread"
    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.api.get(CONVERSATIONS, cursors_of(request))
        context = {"conversations": answer.body, "older": answer.older}
        return self.draw("conversations.html", context)


class ReadConversation(WebPage):
    """Marks a conversation as read, and leads to its latest post."""

    needs_viewer = True

    def post(self, request: HttpRequest, conversation_id: PostId) -> HttpResponseBase:
        path = f"{CONVERSATIONS}/{conversation_id.public}/read"
        status = self.api.send("POST", path).body["last_status"]
        return self.go_back(f"/statuses/{status['id']}#post-{status['id']}")


class DeleteConversation(WebPage):
    """Takes a conversation off the list until its next post."""

    needs_viewer = True

    def post(self, request: HttpRequest, conversation_id: PostId) -> HttpResponseBase:
        self.api.send("DELETE", f"{CONVERSATIONS}/{conversation_id.public}")
        return HttpResponse() if self.is_partial else self.go_back("/conversations")
