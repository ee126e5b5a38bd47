"""A page of a home timeline: reader, entries, show, page. `page.py` reads them in this order."""
