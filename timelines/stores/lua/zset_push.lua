-- Adds entries to timelines that are alive. Layout: zset.py.
-- KEYS: sorted set, sources and head of each reader. ARGV: most entries, entries for each.
-- Returns how many readers. Trims when a tenth too many stand there.
local most, call = tonumber(ARGV[1]), redis.call
-- To count costs a tenth of a push: it is done with one push in so many, and with larger ones.
local COUNTED = 8
-- As in push.lua: a call costs more than what Redis does in it.
local ASKED = 8

-- What all readers get, taken apart once.
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

-- Takes events out of the posts they brought.
local function forget(sources, gone)
  local fields = redis.call('HGETALL', sources)
  for i = 1, #fields, 2 do
    local kept = {}
    if fields[i] ~= 'build' then
      for event in string.gmatch(fields[i + 1], '%S+') do
        if not gone[event] then
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

-- The oldest go, and the mark rises above their newest second.
local function trim(set, sources, head, surplus)
  local oldest = redis.call('ZRANGE', set, 1, surplus, 'WITHSCORES')
  local gone = {}
  for i = 1, #oldest, 2 do
    gone[oldest[i]] = true
  end
  redis.call('ZREMRANGEBYRANK', set, 1, surplus)
  forget(sources, gone)
  local mark = tonumber(redis.call('HGET', head, 'complete_from'))
  local above = tonumber(oldest[#oldest]) + 1
  if not mark then
    redis.call('DEL', head) -- a build would miss what went: it starts again
  elseif above > mark then
    redis.call('HSET', head, 'complete_from', string.format('%.0f', above))
  end
end

-- How many of some readers are alive, and how many there are: one question for all of them.
local function count_alive(first, last)
  local heads = {}
  for i = first, last, 3 do
    heads[#heads + 1] = KEYS[i + 2]
  end
  return call('EXISTS', unpack(heads)), #heads
end

local function push(i)
  add(KEYS[i], KEYS[i + 1])
  -- Another of them with each second, so that everybody's turn comes.
  if #added ~= 1 or (added[1][1] + i) % COUNTED == 0 then
    local surplus = call('ZCARD', KEYS[i]) - 1 - most
    if surplus > most / 10 then
      trim(KEYS[i], KEYS[i + 1], KEYS[i + 2], surplus)
    end
  end
end

local reached = 0
for first = 1, #KEYS, 3 * ASKED do
  local last = math.min(first + 3 * ASKED - 1, #KEYS)
  local alive, asked = count_alive(first, last)
  reached = reached + alive
  for i = first, alive > 0 and last or 0, 3 do
    if alive == asked or call('EXISTS', KEYS[i + 2]) == 1 then
      push(i)
    end
  end
end
return reached
