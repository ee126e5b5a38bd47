"""The name of the cookie of a session. The server asks for it before Django is ready."""

NAME = "tideline_session"
