-- Starts, or takes over, the building of a timeline. After write.lua. KEYS: timeline.
-- ARGV: two sizes, head of a timeline under construction (mark = never,
--       epoch), ttl in ms.
local data = redis.call('GET', KEYS[1])
write(KEYS[1], ARGV[3], data or '', data and HEAD + 1 or 1, 'PX', ARGV[4])
return 1
