-- Ends a build: the computed timeline, then what was pushed meanwhile. KEYS: timeline.
-- ARGV: epoch of the build (8 bytes), head, entries, ttl in ms.
-- Returns 0 when the build was taken over or its key is gone: pushes may have been missed.
local data = redis.call('GET', KEYS[1])
if not data or string.sub(data, 13, 20) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3] .. string.sub(data, 21), 'PX', ARGV[4])
return 1
