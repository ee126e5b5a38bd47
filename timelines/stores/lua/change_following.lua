-- Brings a timeline over one step of its reader's following list. After write.lua. KEYS: timeline.
-- ARGV: two sizes, version before, version after, added entries, their
--       complete_from, author whose entries go (4 bytes) or ''.
-- Added entries are kept whatever the version: the step may come again after the backward edge was
-- written, with posts that the first time could not know of.
local data = redis.call('GET', KEYS[1])
if not data then
  return 0
end
local mark, high, low = unpack_number('>I4I4I4', data)
local at = high * 4294967296 + low
if mark ~= BUILDING then
  if at < tonumber(ARGV[3]) then
    redis.call('DEL', KEYS[1])
    return -1
  end
  at = math.max(at, tonumber(ARGV[4]))
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
local head = struct.pack('>I4I4I4', mark, math.floor(at / 4294967296), at % 4294967296)
head, body = head .. sub(data, 13, HEAD), body .. ARGV[5]
if HEAD + #body > most and mark ~= BUILDING then
  head, body = drop_oldest(head .. body)
end
write(KEYS[1], head, body, 1, 'KEEPTTL')
return 1
