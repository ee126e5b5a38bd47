-- Stores "version:payload", unless a newer version is stored. After newer_value.lua. KEYS: entry.
-- ARGV: version, payload, ttl in ms.
if is_newer(redis.call('GET', KEYS[1]), ARGV[1]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
return 1
