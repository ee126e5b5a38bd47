-- Ends a build: the computed timeline, then what was pushed meanwhile. After write.lua.
-- KEYS: timeline.
-- ARGV: two sizes, epoch of the build (8 bytes), head, entries, ttl in ms.
-- Returns 0 when the build was taken over or its key is gone: pushes may have been missed.
local data = redis.call('GET', KEYS[1])
if not data or string.sub(data, 13, HEAD) ~= ARGV[3] then
  return 0
end
local laid = ARGV[4] .. ARGV[5] .. string.sub(data, HEAD + 1)
if #laid > most then
  laid = drop_oldest(laid)
end
write(KEYS[1], laid, 'PX', ARGV[6])
return 1
