-- Adds entries to live timelines. Layout: zset.py.
-- KEYS: sorted set, sources and head of each reader. ARGV: most entries, entries for each.
-- Returns how many readers have one. Trims a set that has a tenth too many entries.
local most, call = tonumber(ARGV[1]), redis.call
-- A set is counted with one push in this many, and with every push of several entries.
local COUNTED = 8
-- One EXISTS for this many readers, as in push.lua.
local GROUP = 8

-- The entries for all readers, split once.
local added = {}
for i = 1, #ARGV[2], 28 do
  local event, original = string.sub(ARGV[2], i, i + 13), string.sub(ARGV[2], i + 14, i + 27)
  added[#added + 1] = {tonumber(string.sub(event, 1, 6), 36), event, original}
end

local function add(set, sources)
  for _, entry in ipairs(added) do
    local second, event, original = entry[1], entry[2], entry[3]
    if call('ZADD', set, second, event) == 1 and event ~= original then
      local others = call('HGET', sources, original)
      call('HSET', sources, original, others and others .. ' ' .. event or event)
    end
  end
end

-- Removes events from the sources of the posts that they showed.
local function remove_sources(sources, removed)
  local fields = redis.call('HGETALL', sources)
  for i = 1, #fields, 2 do
    local kept = {}
    if fields[i] ~= 'build' then
      for event in string.gmatch(fields[i + 1], '%S+') do
        if not removed[event] then
          kept[#kept + 1] = event
        end
      end
      if #kept == 0 then
        redis.call('HDEL', sources, fields[i])
      else
        redis.call('HSET', sources, fields[i], table.concat(kept, ' '))
      end
    end
  end
end

-- Removes the oldest entries, and raises the low-water mark above their newest second.
local function trim(set, sources, head, surplus)
  local oldest = redis.call('ZRANGE', set, 1, surplus, 'WITHSCORES')
  local removed = {}
  for i = 1, #oldest, 2 do
    removed[oldest[i]] = true
  end
  redis.call('ZREMRANGEBYRANK', set, 1, surplus)
  remove_sources(sources, removed)
  local mark = tonumber(redis.call('HGET', head, 'complete_from'))
  local above = tonumber(oldest[#oldest]) + 1
  if not mark then
    redis.call('DEL', head) -- the build would miss the removed entries: it has to begin again
  elseif above > mark then
    redis.call('HSET', head, 'complete_from', string.format('%.0f', above))
  end
end

-- How many of some readers have a live timeline, and how many readers there are: one EXISTS.
local function count_live(first, last)
  local heads = {}
  for i = first, last, 3 do
    heads[#heads + 1] = KEYS[i + 2]
  end
  return call('EXISTS', unpack(heads)), #heads
end

local function push(i)
  add(KEYS[i], KEYS[i + 1])
  -- The reader's position and the second decide, so that each set is counted at times.
  if #added ~= 1 or (added[1][1] + i) % COUNTED == 0 then
    local surplus = call('ZCARD', KEYS[i]) - 1 - most
    if surplus > most / 10 then
      trim(KEYS[i], KEYS[i + 1], KEYS[i + 2], surplus)
    end
  end
end

local reached = 0
for first = 1, #KEYS, 3 * GROUP do
  local last = math.min(first + 3 * GROUP - 1, #KEYS)
  local live, asked = count_live(first, last)
  reached = reached + live
  for i = first, live > 0 and last or 0, 3 do
    if live == asked or call('EXISTS', KEYS[i + 2]) == 1 then
      push(i)
    end
  end
end
return reached
