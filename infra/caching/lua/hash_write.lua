-- Writes a whole hash, unless anything happened since its load began. After end_load.lua.
-- KEYS: hash, token of the load. ARGV: token, version, ttl in ms, then field, value, field, value …
if not end_load(KEYS[2], ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '!', ARGV[2])
for i = 4, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
