"""What all endpoints share: ids, cursors, pages, the Link header, errors, rendering."""
