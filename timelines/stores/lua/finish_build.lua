-- Ends a build: the computed entries, then those pushed since it began. After write.lua.
-- KEYS: timeline.
-- ARGV: two sizes, epoch of the build (8 bytes), head, entries, ttl in ms.
-- Returns 0 when another build took over or the key is gone: pushes may be missing.
local data = redis.call('GET', KEYS[1])
if not data or sub(data, 13, HEAD) ~= ARGV[3] then
  return 0
end
local head, entries = ARGV[4], ARGV[5] .. sub(data, HEAD + 1)
if HEAD + #entries > most then
  head, entries = drop_oldest(head .. entries)
end
write(KEYS[1], head, entries, 1, 'PX', ARGV[6])
return 1
