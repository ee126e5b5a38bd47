-- Brings a timeline over one step of its reader's following list. KEYS: timeline.
-- ARGV: version before, version after, added entries, their complete_from,
--       author whose entries go (4 bytes) or ''.
-- Added entries are kept whatever the version: the step may come again after the backward edge was
-- written, with posts that the first time could not know of.
local HEAD, ENTRY, BUILDING = 20, 20, 4294967295
local data = redis.call('GET', KEYS[1])
if not data then
  return 0
end
local mark, high, low = struct.unpack('>I4I4I4', data)
local at = high * 4294967296 + low
if mark ~= BUILDING then
  if at < tonumber(ARGV[1]) then
    redis.call('DEL', KEYS[1])
    return -1
  end
  at = math.max(at, tonumber(ARGV[2]))
  mark = math.max(mark, tonumber(ARGV[4]))
end
local body = string.sub(data, HEAD + 1)
if ARGV[5] ~= '' then
  local kept = {}
  for i = 1, #body, ENTRY do
    if string.sub(body, i + 4, i + 7) ~= ARGV[5] then
      kept[#kept + 1] = string.sub(body, i, i + ENTRY - 1)
    end
  end
  body = table.concat(kept)
end
local ttl = redis.call('PTTL', KEYS[1])
local head = struct.pack('>I4I4I4', mark, math.floor(at / 4294967296), at % 4294967296)
redis.call('SET', KEYS[1], head .. string.sub(data, 13, HEAD) .. body .. ARGV[3], 'PX', ttl)
return 1
