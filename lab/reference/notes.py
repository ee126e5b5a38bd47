"""What a page says, to those who read it elsewhere than on the site, of what the site has there.

On a page of commands the note names them.
"""

import re

NOTE = re.compile(r"(?:^> .*\n)+\n(?=<!-- )", re.M)
_WORD = re.compile(r"`((?!make )\w+(?: [\w-]+)?)`")


def names_in_note(page: str) -> list[str]:
    return [name for note in NOTE.findall(page) for name in _WORD.findall(note)]
