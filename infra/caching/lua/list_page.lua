-- A page of a cached list, right below or right above a place, as it is at one moment.
-- KEYS: sorted set [, sorted set of members to leave out: whole, and of the same version].
-- ARGV: 'below' or 'above', score and member of the place (empty: from the top), most members.
-- Returns nothing where a list is not cached or the two are of different versions, else
-- {version's score, members cached, where the list goes on beyond the page, member, score, …},
-- away from the place. It goes on: 0 in this cache, 1 nowhere, -1 in the source only.
local function mark_of(name)
  local mark = redis.call('ZRANGEBYSCORE', name, '-inf', '(0', 'WITHSCORES')
  return mark[1] ~= 'gone' and mark[1] and mark
end
local mark, without = mark_of(KEYS[1]), KEYS[2]
if not mark then
  return false
end
if without then
  local other = mark_of(without)
  if not other or other[2] ~= mark[2] then
    return false
  end
  -- Most accounts leave nobody out.
  without = redis.call('ZCARD', without) > 1 and without
end
local is_above, score, member = ARGV[1] == 'above', tonumber(ARGV[2]), ARGV[3]
local reply = {mark[2], redis.call('ZCARD', KEYS[1]) - 1, 0}
local full, step, offset = #reply + 2 * tonumber(ARGV[4]), tonumber(ARGV[4]) + 4, 0
if is_above and mark[1] == 'newest' then
  -- Rank 0 is the mark, rank 1 the oldest member; below it there is a gap.
  local oldest = redis.call('ZRANGE', KEYS[1], 1, 1, 'WITHSCORES')
  local at = tonumber(oldest[2])
  if not at or at > score or (at == score and oldest[1] > member) then
    reply[3] = -1
    return reply
  end
end
local read, bounds = 'ZREVRANGEBYSCORE', {score or '+inf', 0}
if is_above then
  read, bounds = 'ZRANGEBYSCORE', {score, '+inf'}
end
local part
repeat
  part = redis.call(read, KEYS[1], bounds[1], bounds[2], 'WITHSCORES', 'LIMIT', offset, step)
  for i = 1, #part, 2 do
    local is_beyond = tonumber(part[i + 1]) ~= score
    if not is_beyond then
      is_beyond = is_above and part[i] > member or not is_above and part[i] < member
    end
    if is_beyond and not (without and redis.call('ZSCORE', without, part[i])) then
      reply[#reply + 1] = part[i]
      reply[#reply + 1] = part[i + 1]
      if #reply == full then
        return reply
      end
    end
  end
  offset = offset + step
until #part < 2 * step
reply[3] = (is_above or mark[1] == 'whole') and 1 or -1
return reply
