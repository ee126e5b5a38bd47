-- Appends packed entries to timelines that are alive. Layout: packed.py.
-- KEYS: timelines. ARGV: most bytes kept, entries that each of them gets. Returns how many.
local HEAD, ENTRY, BUILDING = 20, 20, 4294967295
local most = tonumber(ARGV[1])

-- Drops the half that arrived first (all of one being built: a build must not miss any) and raises the mark above its newest second: whatever of that
-- second or older is missing now is below the mark, where readers ask the source.
local function halve(key)
  local data = redis.call('GET', key)
  local mark = struct.unpack('>I4', data)
  if mark == BUILDING then
    redis.call('DEL', key)
    return
  end
  local kept = HEAD + math.floor((#data - HEAD) / ENTRY / 2) * ENTRY
  for at = HEAD + 1, kept, ENTRY do
    local second = struct.unpack('>I4', data, at)
    if second >= mark then
      mark = second + 1
    end
  end
  local ttl = redis.call('PTTL', key)
  local head = struct.pack('>I4', mark) .. string.sub(data, 5, HEAD)
  redis.call('SET', key, head .. string.sub(data, kept + 1), 'PX', ttl)
end

local reached = 0
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then
    reached = reached + 1
    if redis.call('APPEND', key, ARGV[2]) > most then
      halve(key)
    end
  end
end
return reached
