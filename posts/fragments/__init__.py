"""The cached JSON of posts: what is in a fragment, and how answers are made of it. Pure."""
