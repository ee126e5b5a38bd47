"""What a site of a given size needs: shards, cores, memory, connections, and money."""
