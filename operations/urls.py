"""Routes of the operators' pages."""

from django.urls import URLPattern, path

from operations.pages import chapters, figures, finder, home, parked
from operations.site import View, operator_page


def _page(route: str, view: View, name: str) -> URLPattern:
    return path(f"admin/{route}", operator_page(view), name=name)


urlpatterns = [
    _page("operations/", figures.show_operations, "operations"),
    _page("operations/charts/", figures.answer_charts, "operations_charts"),
    _page("operations/now/", figures.answer_now, "operations_now"),
    _page("find/", finder.show_finder, "find"),
    _page("find/account/<account:account_id>/", finder.show_account, "find_account"),
    _page(
        "find/account/<account:account_id>/notifications/",
        finder.show_notifications,
        "find_notifications",
    ),
    _page("find/account/<account:account_id>/home/", home.show_home, "home_timeline"),
    _page("find/account/<account:account_id>/home/rebuild/", home.rebuild_home, "rebuild_home"),
    _page("find/post/<str:public_id>/", finder.show_post, "find_post"),
    _page("find/edge/<account:first>/<account:second>/", finder.show_edge, "find_edge"),
    _page("chapters/<slug:name>/", chapters.show_chapter, "chapter"),
    _page("hot_keys/", figures.show_hot_keys, "hot_keys"),
    _page("moves/", figures.show_moves, "moves"),
    _page("parked/", parked.show_parked, "parked_changes"),
    _page("parked/act/", parked.act_on_parked, "act_on_parked"),
]
