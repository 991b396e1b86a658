-- Stands before every script. KEYS: for each limit its calls and its booked permits. ARGV: the script's own arguments, then
-- for each limit five numbers, see limit(). Every time and duration is in microseconds of Redis's clock.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- for scores: Lua would round large numbers when it prints them
local function text(number) return string.format('%.0f', number) end
local function keep(key) redis.call('PEXPIRE', key, 30 * 24 * 3600 * 1000) end
local moments = {'open', 'next', 'people'}
-- the keys of the i-th limit, and its numbers: how long a call counts after its answer, the time between two calls that nobody
-- waits for, how many calls may count, how many of them are kept for people, and how long it stays closed when nobody knows
-- what was sent
local function limit(i)
  local at = #ARGV - 5 * (#KEYS / 2 - i + 1)
  return {
    calls = KEYS[2 * i - 1], booked = KEYS[2 * i],
    window = tonumber(ARGV[at + 1]), pace = tonumber(ARGV[at + 2]), capacity = tonumber(ARGV[at + 3]),
    kept = tonumber(ARGV[at + 4]), closed_for = tonumber(ARGV[at + 5]),
  }
end
-- forget what no longer counts; then `count` calls do. Read the three moments that live among them: admit nothing before
-- `open`, nothing that nobody waits for before `next`, and people are about until `people`
local function prune(of)
  local void = redis.call('ZRANGEBYSCORE', of.booked, '-inf', text(now))
  for _, permit in ipairs(void) do redis.call('ZREM', of.calls, permit) end
  redis.call('ZREMRANGEBYSCORE', of.booked, '-inf', text(now))
  of.open = tonumber(redis.call('ZSCORE', of.calls, 'open') or now + of.closed_for)
  of.next = tonumber(redis.call('ZSCORE', of.calls, 'next') or now)
  of.people = tonumber(redis.call('ZSCORE', of.calls, 'people') or now)
  redis.call('ZREMRANGEBYSCORE', of.calls, '-inf', text(now))
  for _, moment in ipairs(moments) do redis.call('ZADD', of.calls, text(of[moment]), moment) end
  keep(of.calls)
  of.count = redis.call('ZCARD', of.calls) - #moments
  return of
end
-- the moment at which fewer than `capacity` of the calls that are known now still count
local function free_from(of, capacity)
  local too_many = of.count - capacity + 1
  if too_many <= 0 then return now end
  local ordered = redis.call('ZRANGE', of.calls, 0, too_many + #moments - 1, 'WITHSCORES')
  local seen = 0
  for j = 1, #ordered, 2 do
    if ordered[j] ~= 'open' and ordered[j] ~= 'next' and ordered[j] ~= 'people' then seen = seen + 1 end
    if seen == too_many then return tonumber(ordered[j + 1]) end
  end
end
