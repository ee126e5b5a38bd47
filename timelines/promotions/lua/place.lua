-- Decides which promotions stand on a page, and remembers it. Keys are one reader's.
-- KEYS: the reader's day, the walk at the page's top, the walk at its end.
-- ARGV: entries since the last promotion above the page ('' = what the walk says), ttl of the day
-- and of walks in s, whether the walk goes on, count of campaigns, for each: id, slot, every, daily
-- cap, whether it is fresh; then for each gap the id of the entry above, '' where there is no room.
-- Returns for each promotion: entries above it on the page, campaign, whether it is new.
local offered, campaigns = tonumber(ARGV[5]), {}
local by_id, on_page = {}, {}
for c = 1, offered do
  local at = 1 + c * 5
  local campaign = {
    id = ARGV[at], slot = tonumber(ARGV[at + 1]), every = tonumber(ARGV[at + 2]),
    cap = tonumber(ARGV[at + 3]), fresh = ARGV[at + 4] == '1',
  }
  campaigns[c], by_id[campaign.id] = campaign, campaign
end

local first = 5 + offered * 5
local gaps, fields = #ARGV - first, {}
for i = 1, gaps do fields[i] = 'p' .. ARGV[first + i] end
for c = 1, offered do fields[gaps + c] = 'c' .. campaigns[c].id end
local known = redis.call('HMGET', KEYS[1], unpack(fields))
for c = 1, offered do campaigns[c].count = tonumber(known[gaps + c] or '0') end
local since = tonumber(ARGV[1]) or tonumber(redis.call('GET', KEYS[2]) or '0')

-- What stood here before stands here again, unless the walk has just passed another.
local kept, distance = {}, since
for i = 1, gaps do
  distance = distance + 1
  local campaign = by_id[known[i]]
  if campaign and not on_page[campaign] and distance >= campaign.every then
    kept[i], on_page[campaign], distance = campaign, true, 0
  end
end

-- Entries from each gap down to the next that is kept must be as many as that one asks for.
local free, nearest = {}, nil
for i = gaps, 1, -1 do
  free[i] = not nearest or nearest - i >= kept[nearest].every
  if kept[i] then nearest = i end
end

local function choose(i)
  if ARGV[first + i] == '' or not free[i] then return nil end
  for _, campaign in ipairs(campaigns) do
    if campaign.fresh and not on_page[campaign] and i >= campaign.slot
      and distance >= campaign.every and campaign.count < campaign.cap then
      return campaign
    end
  end
end

local placed = {}
distance = since
for i = 1, gaps do
  distance = distance + 1
  local campaign, new = kept[i], 0
  if not campaign then
    campaign, new = choose(i), 1
    if campaign then
      on_page[campaign] = true
      redis.call('HSET', KEYS[1], fields[i], campaign.id)
      redis.call('HINCRBY', KEYS[1], 'c' .. campaign.id, 1)
      redis.call('EXPIRE', KEYS[1], ARGV[2])
    end
  end
  if campaign then
    distance = 0
    for _, value in ipairs({i, tonumber(campaign.id), new}) do placed[#placed + 1] = value end
  end
end

if ARGV[4] == '1' then
  -- Of two walks that meet here the one that had a promotion last counts.
  local other = tonumber(redis.call('GET', KEYS[3]) or distance + 1)
  redis.call('SET', KEYS[3], math.min(other, distance + 1), 'EX', ARGV[3])
end
return placed
