"""Feeds: each is a source of entries in page order, and how its entries are shown.

`feed.py` says what a feed is, `page.py` makes pages of any of them. A feed is one module: home
(`home/feed.py`), tags (`tags/feed.py`), lists, the public timeline, authors. `ruled.py` and
`open.py` have the two ways to ask what the viewer may see. Trends and the search of posts
(`trends/feed.py`, `search/feed.py`) have offsets, not ranges: `collect` alone shows their entries.
"""
