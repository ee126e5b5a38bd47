-- Stores "version:payload", unless anything happened since its load began, or a newer version is
-- stored. After end_load.lua and newer_value.lua. KEYS: entry, token of the load.
-- ARGV: token, version, payload, ttl in ms. Returns 1 if stored.
if not end_load(KEYS[2], ARGV[1]) or is_newer(redis.call('GET', KEYS[1]), ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2] .. ':' .. ARGV[3], 'PX', ARGV[4])
return 1
