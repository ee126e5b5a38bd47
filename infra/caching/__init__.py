"""Redis behind one thin client, one key builder, and writes that never go back in time."""
