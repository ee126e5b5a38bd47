-- Stores "version:payload", unless a newer version is stored. An equal version is written again, so
-- that a repeated refresh repairs an entry. KEYS: entry. ARGV: version, payload, ttl in ms. Returns 1 if stored.
local old = redis.call('GET', KEYS[1])
if old and tonumber(string.match(old, '^(%d+):')) > tonumber(ARGV[1]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
return 1
