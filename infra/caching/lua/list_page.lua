-- A consistent page of a cached list, next below or next above a start position.
-- KEYS: sorted set [, sorted set of members to leave out: whole, and with the same version].
-- ARGV: 'below' or 'above', score and member of the start (empty: from the top), most members.
-- Returns nothing if a list is not cached or the two have different versions. Otherwise
-- {score of the version, members cached, continuation, member, score, …}, nearest to the start
-- first. Continuation after the page: 0 in this cache, 1 end of the list, -1 in the source only.
local function marker_of(name)
  local marker = redis.call('ZRANGEBYSCORE', name, '-inf', '(0', 'WITHSCORES')
  return (marker[1] == 'whole' or marker[1] == 'newest') and marker
end
local marker, without = marker_of(KEYS[1]), KEYS[2]
if not marker then
  return false
end
if without then
  local other = marker_of(without)
  if not other or other[2] ~= marker[2] then
    return false
  end
  -- For most accounts the second list is empty.
  without = redis.call('ZCARD', without) > 1 and without
end
local is_above, score, member = ARGV[1] == 'above', tonumber(ARGV[2]), ARGV[3]
local reply = {marker[2], redis.call('ZCARD', KEYS[1]) - 1, 0}
local full, step, offset = #reply + 2 * tonumber(ARGV[4]), tonumber(ARGV[4]) + 4, 0
if is_above and marker[1] == 'newest' then
  -- Rank 0 is the marker, rank 1 the oldest member. Older members are not cached.
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
reply[3] = (is_above or marker[1] == 'whole') and 1 or -1
return reply
