"""The first message to some people. Later ones are written in their conversation."""

import re
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.composer import NOT_FOUND, Composer, new_composer
from pages.views.people import Person, list_followed
from pages.views.post_form import (
    STATUSES,
    PostFormPage,
    describe_images,
    read_content,
    read_poll,
)


class NewMessage(PostFormPage):
    """`?to=`: the name of who gets it. Without one, it offers people that the viewer follows."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        to = _at(request.GET.get("to", ""))
        people = [] if to else list_followed(self)
        return self.draw_form(new_composer(self, to=to), people=people)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        return self.answer_typed(self._send) or self.go_back(f"/conversations/{self.status['id']}")

    def draw_form(
        self, composer: Composer, status: int = 200, people: Sequence[Person] = ()
    ) -> HttpResponse:
        context = {"composer": composer, "people": people}
        return self.draw("conversation_new.html", context, status)

    def _send(self, sent: QueryDict) -> None:
        """Raises: ApiRefused, also if a name is of no account: the message would go to none."""
        names = [_at(name) for name in re.split(r"[\s,]+", sent.get("to", "")) if name]
        for name in names:
            self._require_account(name)
        if not names:
            raise ApiRefused(422, "Say who gets the message", {})
        addressed = sent.copy()
        addressed["names"] = " ".join(names)
        describe_images(self, sent)
        data = {**read_content(addressed), "visibility": "direct", "poll": read_poll(sent)}
        self.status = self.api.send("POST", STATUSES, data, sent.get("key", "")).body

    def _require_account(self, name: str) -> None:
        try:
            self.api.get("/api/v1/accounts/lookup", {"acct": name[1:]})
        except ApiRefused as refusal:
            if refusal.status != NOT_FOUND:
                raise
            raise ApiRefused(422, f"There is no account {name}", {}) from None


def _at(name: str) -> str:
    """As people write names: @ann."""
    return f"@{name.removeprefix('@')}" if name else ""
