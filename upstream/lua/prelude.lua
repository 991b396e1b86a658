-- Stands before every script. KEYS: for each limit its calls and its waiters. ARGV: the script's own arguments, then for each
-- limit four numbers, see limit(). Every time and duration is in microseconds of Redis's clock.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- for scores: Lua would round large numbers when it prints them
local function text(number) return string.format('%.0f', number) end
local function keep(key) redis.call('PEXPIRE', key, 30 * 24 * 3600 * 1000) end
-- the keys of the i-th limit, its window, the time between two calls, how many calls may count, and how long it stays closed
-- when nobody knows what was sent
local function limit(i)
  local at = #ARGV - 4 * (#KEYS / 2 - i + 1)
  return KEYS[2 * i - 1], KEYS[2 * i],
    tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
end
-- prune a limit; return the moment of its next admission and how many calls count
local function open(key, closed_for)
  local next = tonumber(redis.call('ZSCORE', key, 'next') or now + closed_for)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  redis.call('ZADD', key, text(next), 'next')
  keep(key)
  return next, redis.call('ZCARD', key) - 1
end
-- how many others wait for a limit
local function waiters(key, me)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  return redis.call('ZCARD', key) - (redis.call('ZSCORE', key, me) and 1 or 0)
end
