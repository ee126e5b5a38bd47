"""The picture and the banner of one's own page."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.views.base import WebPage
from pages.views.settings import UNPROCESSABLE, UPDATE

PICTURES = ("avatar", "header")


class PicturesPage(WebPage):
    """Takes new pictures, or removes one."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._draw()

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            self._change(request)
        except ApiRefused as refusal:
            if refusal.status != UNPROCESSABLE:
                raise
            return self._draw(refusal.message, UNPROCESSABLE)
        return HttpResponseRedirect(f"{request.path}?saved", status=303)

    def _change(self, request: HttpRequest) -> None:
        if (removed := request.POST.get("remove")) in PICTURES:
            self.api.send("DELETE", f"/api/v1/profile/{removed}")
            return
        for name in PICTURES:
            if file := request.FILES.get(name):
                # One more than is allowed is enough for the refusal.
                content = file.read(settings.MEDIA_MAX_BYTES + 1)
                self.api.upload(UPDATE, name, content, "PATCH")

    def _draw(self, fault: str = "", status: int = 200) -> HttpResponseBase:
        context = {"fault": fault, "is_saved": "saved" in self.request.GET}
        return self.draw("settings/pictures.html", context, status)
