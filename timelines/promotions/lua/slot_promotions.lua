-- Decides where promotions are on a page, and remembers it. All keys belong to one reader.
-- KEYS: the reader's day, the session at the page's top, the session at the page's end, then at the
-- ends of the page if promotions take the place of 1, 2 … entries.
-- ARGV: entries since the last promotion above the page ('' = as the session says), ttl of the day
-- and of sessions in s, whether the session continues, whether promotions may take the place of the
-- last entries, the most items of the page, count of campaigns; for each campaign: id, slot, every,
-- daily cap, whether it may get a new impression; then for each gap the id of the entry above, ''
-- where there is no id for a promotion.
-- Returns for each promotion: entries above it on the page, campaign, whether it is new.
local may_cut, most, offered, campaigns = ARGV[5] == '1', tonumber(ARGV[6]), tonumber(ARGV[7]), {}
local by_id, on_page = {}, {}
for c = 1, offered do
  local at = 3 + c * 5
  local campaign = {
    id = ARGV[at], slot = tonumber(ARGV[at + 1]), every = tonumber(ARGV[at + 2]),
    cap = tonumber(ARGV[at + 3]), fresh = ARGV[at + 4] == '1',
  }
  campaigns[c], by_id[campaign.id] = campaign, campaign
end

local first = 7 + offered * 5
local gaps, fields = #ARGV - first, {}
for i = 1, gaps do fields[i] = 'p' .. ARGV[first + i] end
for c = 1, offered do fields[gaps + c] = 'c' .. campaigns[c].id end
local before = redis.call('HMGET', KEYS[1], unpack(fields))
for c = 1, offered do campaigns[c].count = tonumber(before[gaps + c] or '0') end
local since = tonumber(ARGV[1]) or tonumber(redis.call('GET', KEYS[2]) or '0')

-- Whether the page has room for a promotion in the gap and the entry below, besides others.
local function fits(i, others)
  return (may_cut and i or gaps) + 2 + others <= most
end

-- A promotion that the reader has seen here is shown here again, unless it is too close to another.
local repeated, count, distance = {}, 0, since
for i = 1, gaps do
  distance = distance + 1
  local campaign = by_id[before[i]]
  if campaign and not on_page[campaign] and distance >= campaign.every and fits(i, count) then
    repeated[i], on_page[campaign], count, distance = campaign, true, count + 1, 0
  end
end

-- A gap is free if the next repeated promotion below it is at least that one's `every` away.
local free, nearest = {}, nil
for i = gaps, 1, -1 do
  free[i] = not nearest or nearest - i >= repeated[nearest].every
  if repeated[i] then nearest = i end
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

local placed, n = {}, 0
distance = since
for i = 1, gaps do
  distance = distance + 1
  local campaign, new = repeated[i], 0
  if not fits(i, n) then
    campaign = nil
  elseif not campaign then
    campaign, new = choose(i), 1
    if campaign then
      on_page[campaign] = true
      redis.call('HSET', KEYS[1], fields[i], campaign.id)
      redis.call('HINCRBY', KEYS[1], 'c' .. campaign.id, 1)
      redis.call('EXPIRE', KEYS[1], ARGV[2])
    end
  end
  if campaign then
    n, distance = n + 1, 0
    for _, value in ipairs({i, tonumber(campaign.id), new}) do placed[#placed + 1] = value end
  end
end

for cut = 0, may_cut and math.max(0, gaps + 1 + n - most) or 0 do
  if cut > 0 or ARGV[4] == '1' then
    -- If two sessions meet at this cursor, the shorter distance counts.
    local mine = distance + 1 - cut
    local other = tonumber(redis.call('GET', KEYS[3 + cut]) or mine)
    redis.call('SET', KEYS[3 + cut], math.min(other, mine), 'EX', ARGV[3])
  end
end
return placed
