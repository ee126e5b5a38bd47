-- Writes lists of one owner together, unless anything happened since their load began.
-- After end_load.lua. KEYS: token of the load, sorted sets.
-- ARGV: token, then for each sorted set: version, marker ("whole" or "newest"), ttl in ms,
--       count of the following arguments, score, member, score, member …
if not end_load(KEYS[1], ARGV[1]) then
  return 0
end
local at = 2
for i = 2, #KEYS do
  redis.call('DEL', KEYS[i])
  redis.call('ZADD', KEYS[i], -tonumber(ARGV[at]) - 1, ARGV[at + 1])
  local first = at + 4
  local last = at + 3 + tonumber(ARGV[at + 3])
  for n = first, last, 1000 do
    redis.call('ZADD', KEYS[i], unpack(ARGV, n, math.min(n + 999, last)))
  end
  redis.call('PEXPIRE', KEYS[i], ARGV[at + 2])
  at = last + 1
end
return 1
