-- Starts, or takes over, the building of a timeline. KEYS: timeline.
-- ARGV: head of a timeline under construction (mark = never, epoch), ttl in ms.
local data = redis.call('GET', KEYS[1])
local tail = data and string.sub(data, 21) or ''
redis.call('SET', KEYS[1], ARGV[1] .. tail, 'PX', ARGV[2])
return 1
