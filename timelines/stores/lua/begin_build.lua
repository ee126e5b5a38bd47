-- Starts, or takes over, the building of a timeline. After write.lua. KEYS: timeline.
-- ARGV: two sizes, head of a timeline under construction (mark = never,
--       epoch), ttl in ms.
local data = redis.call('GET', KEYS[1])
local tail = data and string.sub(data, HEAD + 1) or ''
write(KEYS[1], ARGV[3] .. tail, 'PX', ARGV[4])
return 1
