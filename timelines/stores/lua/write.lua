-- Cuts and writes a timeline's string; loaded before the scripts that use it. Layout: packed.py.
-- ARGV of all of them: most bytes kept, bytes that a cut leaves.
local HEAD, ENTRY, BUILDING = 20, 20, 4294967295
local most, least = tonumber(ARGV[1]), tonumber(ARGV[2])
local step = most - least + ENTRY
local unpack_number, sub = struct.unpack, string.sub

local function head_of(data)
  return sub(data, 1, HEAD)
end

-- The head with its low-water mark above a second.
local function raised(data, second)
  local mark = unpack_number('>I4', data)
  return struct.pack('>I4', math.max(mark, second + 1)) .. sub(data, 5, HEAD)
end

-- Drops the entries that arrived first, and raises the low-water mark above their newest second.
-- So every entry that is missing now is below the mark, where readers ask the posts.
-- Returns the head, and the byte from which on entries are kept.
local function drop_first(data)
  local from, newest = #data - least + HEAD + 1, -1
  for at = HEAD + 1, from - 1, ENTRY do
    local second = unpack_number('>I4', data, at)
    if second > newest then
      newest = second
    end
  end
  return raised(data, newest), from
end

-- Drops the oldest entries, in any order of arrival, and all repeats. Much slower than drop_first.
-- Returns the head, and the entries kept.
local function drop_oldest(data)
  local order, seen = {}, {}
  for at = HEAD + 1, #data, ENTRY do
    local entry = sub(data, at, at + ENTRY - 1)
    if not seen[entry] then
      seen[entry] = true
      order[#order + 1] = unpack_number('>I4', entry) * 1048576 + at
    end
  end
  table.sort(order)
  local surplus = math.max(0, #order - (least - HEAD) / ENTRY)
  local newest = surplus > 0 and math.floor(order[surplus] / 1048576) or -1
  local kept = {}
  for i = surplus + 1, #order do
    local at = order[i] % 1048576
    kept[#kept + 1] = sub(data, at, at + ENTRY - 1)
  end
  return raised(data, newest), table.concat(kept)
end

-- Bytes of room that a timeline of this length has: the next of the lengths that are a step apart.
local function room_for(length)
  return most - math.floor((most - length) / step) * step
end

-- Writes a head, and the entries from a byte on, with room for up to a step of pushes.
-- APPEND to a string without room allocates twice the new length. So the string is first set to
-- half of the room, and APPEND makes it the whole room.
local function write(key, head, entries, from, ...)
  local length = HEAD + #entries - from + 1
  local half = math.ceil(room_for(length) / 2)
  if half <= HEAD or half >= length then
    redis.call('SET', key, head .. sub(entries, from), ...)
    return
  end
  local middle = from + half - HEAD
  redis.call('SET', key, head, ...)
  redis.call('APPEND', key, sub(entries, from, middle - 1))
  redis.call('APPEND', key, sub(entries, middle))
end

