-- How a timeline's string is cut and written; stands before the scripts that do. Layout: packed.py.
-- ARGV of all of them: most bytes kept, bytes that a cut leaves.
local HEAD, ENTRY, BUILDING = 20, 20, 4294967295
local most, least = tonumber(ARGV[1]), tonumber(ARGV[2])
local step = most - least + ENTRY

local function raised(data, second)
  local mark = struct.unpack('>I4', data)
  return struct.pack('>I4', math.max(mark, second + 1)) .. string.sub(data, 5, HEAD)
end

-- Drops those that arrived first, and raises the mark above their newest second: whatever of that
-- second or older is missing now is below the mark, where readers ask the source.
local function drop_first(data)
  local first, newest = #data - least + HEAD + 1, -1
  for at = HEAD + 1, first - 1, ENTRY do
    newest = math.max(newest, (struct.unpack('>I4', data, at)))
  end
  return raised(data, newest) .. string.sub(data, first)
end

-- The same of the oldest, whenever they arrived, and of repeats. Ten times as dear.
local function drop_oldest(data)
  local order, seen = {}, {}
  for at = HEAD + 1, #data, ENTRY do
    local entry = string.sub(data, at, at + ENTRY - 1)
    if not seen[entry] then
      seen[entry] = true
      order[#order + 1] = struct.unpack('>I4', entry) * 1048576 + at
    end
  end
  table.sort(order)
  local surplus = math.max(0, #order - (least - HEAD) / ENTRY)
  local newest = surplus > 0 and math.floor(order[surplus] / 1048576) or -1
  local parts = {raised(data, newest)}
  for i = surplus + 1, #order do
    local at = order[i] % 1048576
    parts[#parts + 1] = string.sub(data, at, at + ENTRY - 1)
  end
  return table.concat(parts)
end

-- Bytes that a timeline of this length was given room for: the next of the lengths a step apart.
local function room_for(length)
  return most - math.floor((most - length) / step) * step
end

-- Writes it with room for up to a step of pushes. APPEND to a string without room takes twice what
-- is needed then: it is made to do so when half of the room is needed.
local function write(key, data, ...)
  local half = math.ceil(room_for(#data) / 2)
  if half <= HEAD or half >= #data then
    redis.call('SET', key, data, ...)
    return
  end
  redis.call('SET', key, string.sub(data, 1, HEAD), ...)
  redis.call('APPEND', key, string.sub(data, HEAD + 1, half))
  redis.call('APPEND', key, string.sub(data, half + 1))
end

