"""Conversations: the threads of direct posts of an account, with the latest post of each."""
