"""The names of the cookies of a session. The server asks for the first before Django is ready.

`PAGE_MARK` says to scripts whose page they may show. It is made of the token, and proves nothing.
"""

NAME = "tideline_session"
PAGE_MARK = "tideline_page"
