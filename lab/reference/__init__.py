"""Pages that are rendered from declarations in the code and kept results (`docs/build.py`).

A page in docs/ has its own text and a marker, such as `<!-- settings -->`. The site has the
declarations in its place.
"""
