-- Removes entries from a timeline, with their repeats. After write.lua. KEYS: timeline.
-- ARGV: two sizes, low-water mark and version that the caller saw (12 bytes), the entries.
-- Returns 0 when the head has others: entries that were stale then may be wanted now.
local SEEN = 12
local data = redis.call('GET', KEYS[1])
if not data or sub(data, 1, SEEN) ~= ARGV[3] then
  return 0
end
local removed = {}
for i = 1, #ARGV[4], ENTRY do
  removed[sub(ARGV[4], i, i + ENTRY - 1)] = true
end
local kept = {}
for i = HEAD + 1, #data, ENTRY do
  local entry = sub(data, i, i + ENTRY - 1)
  if not removed[entry] then
    kept[#kept + 1] = entry
  end
end
write(KEYS[1], head_of(data), table.concat(kept), 1, 'KEEPTTL')
return 1
