-- Counts a write of one count, and says whether the count is written very often.
-- KEYS: hash. ARGV: writes in a second from which on the count is hot; seconds that it stays hot.
-- Fields: s, the second of n; n, writes in that second; h, hot up to this second, inclusive.
local now = tonumber(redis.call('TIME')[1])
local facts = redis.call('HMGET', KEYS[1], 's', 'n', 'h')
local writes = (tonumber(facts[1]) == now and tonumber(facts[2]) or 0) + 1
local hot_until = tonumber(facts[3]) or 0
if writes >= tonumber(ARGV[1]) then
  hot_until = now + tonumber(ARGV[2])
end
redis.call('HSET', KEYS[1], 's', now, 'n', writes, 'h', hot_until)
redis.call('EXPIRE', KEYS[1], tonumber(ARGV[2]) + 2)
return hot_until >= now and 1 or 0
