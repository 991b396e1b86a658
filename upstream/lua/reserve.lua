-- ARGV: permit, class, remaining wait, longest life of a call.
-- Returns {1, 0} when admitted, {0, time after which to ask again} when not.
local permit, interactive, remaining, life = ARGV[1], ARGV[2] == 'interactive', tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('ZSCORE', KEYS[1], permit) then return {1, 0} end
local deadline, longest, refused = now + remaining, 0, {}
for i = 1, #KEYS / 2 do
  local calls, waiting, _, pace, capacity, closed_for = limit(i)
  local next, count = open(calls, closed_for)
  local wait = math.max(0, next - now)
  if count >= capacity then
    -- wait until enough of them have stopped counting; 'next' is no call
    local seen = 0
    local ordered = redis.call('ZRANGE', calls, 0, count - capacity + 1, 'WITHSCORES')
    for j = 1, #ordered, 2 do
      if ordered[j] ~= 'next' and seen <= count - capacity then
        seen = seen + 1
        wait = math.max(wait, ordered[j + 1] - now)
      end
    end
  end
  local others = waiters(waiting, permit)
  if interactive then
    if wait > 0 then
      refused[#refused + 1] = waiting
      -- those whose wait ends earlier go first
      local ahead = redis.call('ZCOUNT', waiting, '-inf', '(' .. text(deadline))
      if redis.call('ZSCORE', waiting, permit) then ahead = redis.call('ZRANK', waiting, permit) end
      wait = wait + ahead * pace
    end
  elseif others > 0 then
    wait = math.max(wait, (others + 1) * pace)
  end
  longest = math.max(longest, wait)
end
if longest > 0 then
  if interactive and longest <= remaining then
    for _, waiting in ipairs(refused) do
      redis.call('ZADD', waiting, 'NX', text(deadline), permit)
      keep(waiting)
    end
  else
    for i = 1, #KEYS / 2 do redis.call('ZREM', KEYS[2 * i], permit) end
  end
  return {0, math.ceil(longest)}
end
for i = 1, #KEYS / 2 do
  local calls, waiting, window, pace = limit(i)
  redis.call('ZADD', calls, text(now + life + window), permit, text(now + pace), 'next')
  redis.call('ZREM', waiting, permit)
end
return {1, 0}
