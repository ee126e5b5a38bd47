-- Applies one step of the reader's following list to a timeline. After write.lua. KEYS: timeline.
-- ARGV: two sizes, version before, version after, added entries, their low-water mark, author whose
--       entries are removed (4 bytes) or '', version at which the step was read.
-- Returns 0 when the timeline reflects a later version than that: the step may have been undone.
-- Added entries are kept at any version: the step may run again after the backward edge was
-- written, with posts that the first run could not find.
local data = redis.call('GET', KEYS[1])
if not data then
  return 1
end
local mark, high, low = unpack_number('>I4I4I4', data)
local version = high * 4294967296 + low
if mark ~= BUILDING then
  if version < tonumber(ARGV[3]) then
    redis.call('DEL', KEYS[1])
    return 1
  end
  if version > tonumber(ARGV[8]) then
    return 0
  end
  version = math.max(version, tonumber(ARGV[4]))
  mark = math.max(mark, tonumber(ARGV[6]))
end
local body = sub(data, HEAD + 1)
if ARGV[7] ~= '' then
  local kept = {}
  for i = 1, #body, ENTRY do
    if sub(body, i + 4, i + 7) ~= ARGV[7] then
      kept[#kept + 1] = sub(body, i, i + ENTRY - 1)
    end
  end
  body = table.concat(kept)
end
local head = struct.pack('>I4I4I4', mark, math.floor(version / 4294967296), version % 4294967296)
head, body = head .. sub(data, 13, HEAD), body .. ARGV[5]
if HEAD + #body > most and mark ~= BUILDING then
  head, body = drop_oldest(head .. body)
end
write(KEYS[1], head, body, 1, 'KEEPTTL')
return 1
