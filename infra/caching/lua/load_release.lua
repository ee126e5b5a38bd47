-- Ends a load that writes nothing. After end_load.lua. KEYS: token of the load. ARGV: token.
return end_load(KEYS[1], ARGV[1]) and 1 or 0
