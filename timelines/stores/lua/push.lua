-- Appends packed entries to timelines that are alive. After write.lua.
-- KEYS: timelines. ARGV: two sizes, entries that each of them gets.
-- Returns how many.
local entries = ARGV[3]

-- By arrival, unless that would put what has just arrived below the mark: old entries that were
-- missing are no reason to forget newer ones.
local function cut(data)
  local shorter = drop_first(data)
  if struct.unpack('>I4', shorter) > struct.unpack('>I4', entries) then
    return drop_oldest(data)
  end
  return shorter
end

-- Of one being built nothing is cut: a build must not miss any. It is given up at twice the size.
local function append_and_write(key)
  local data = redis.call('GET', key) .. entries
  local is_building = struct.unpack('>I4', data) == BUILDING
  if is_building and #data > 2 * most then
    redis.call('DEL', key)
    return
  end
  if #data > most and not is_building then
    data = cut(data)
  end
  write(key, data, 'KEEPTTL')
end

local reached = 0
for _, key in ipairs(KEYS) do
  local length = redis.call('STRLEN', key)
  if length > 0 then
    reached = reached + 1
    if length + #entries <= room_for(length) then
      redis.call('APPEND', key, entries)
    else
      append_and_write(key)
    end
  end
end
return reached
