"""Paths of programs: some clients write a slash at their end, which means the same."""

_OF_PROGRAMS = ("/api/", "/oauth/", "/.well-known/", "/nodeinfo/")


def without_slash(path: str) -> str:
    """The path of the route: without the slash at its end, if it is of the API or of OAuth.

    The answer is no redirect: clients repeat a redirected POST as a GET. Pages keep their slash.
    """
    if not path.endswith("/") or not path.startswith(_OF_PROGRAMS):
        return path
    return path[:-1]
