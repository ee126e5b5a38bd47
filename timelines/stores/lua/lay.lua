-- Ends a build: the computed timeline, then what was pushed meanwhile. After write.lua.
-- KEYS: timeline.
-- ARGV: two sizes, epoch of the build (8 bytes), head, entries, ttl in ms.
-- Returns 0 when the build was taken over or its key is gone: pushes may have been missed.
local data = redis.call('GET', KEYS[1])
if not data or sub(data, 13, HEAD) ~= ARGV[3] then
  return 0
end
local head, laid = ARGV[4], ARGV[5] .. sub(data, HEAD + 1)
if HEAD + #laid > most then
  head, laid = drop_oldest(head .. laid)
end
write(KEYS[1], head, laid, 1, 'PX', ARGV[6])
return 1
