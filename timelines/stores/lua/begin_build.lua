-- Begins the build of a timeline, or takes one over. After write.lua. KEYS: timeline.
-- ARGV: two sizes, head of a timeline during a build (its epoch), ttl in ms.
local data = redis.call('GET', KEYS[1])
if data and (#data < HEAD or #data % ENTRY ~= 0) then
  data = nil -- this store did not write it
end
write(KEYS[1], ARGV[3], data or '', data and HEAD + 1 or 1, 'PX', ARGV[4])
return 1
