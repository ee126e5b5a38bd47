"""Routes of the home page and of what it asks while it is open.

Django tries all routes of the site in their order. So these come first (config/urls.py).
"""

from django.urls import path

from pages.views.home import HomePage, NewPosts

urlpatterns = [path("", HomePage.as_view()), path("home/new", NewPosts.as_view())]
