"""Imported posts: the ids that another system gave them, and what is brought up to them."""
