"""How often a client asks for what: requests of each kind in 1,000."""

PER_THOUSAND = {
    "home": 480,
    "news": 140,
    "next_page": 90,
    "author_page": 120,
    "post": 40,
    "relationships": 60,
    "list": 25,
    "profile": 25,
    "write": 20,
}
# Half of the lists are followers, half following. A write is a post, a favourite or a follow.
WRITES = {"post": 10, "favourite": 5, "follow": 5}
READS = tuple(kind for kind in PER_THOUSAND if kind != "write")
