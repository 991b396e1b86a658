-- ARGV: how long to block. Never shortens a wait.
for i = 1, #KEYS / 2 do
  local calls, _, _, _, _, closed_for = limit(i)
  local next = open(calls, closed_for)
  redis.call('ZADD', calls, text(math.max(next, now + tonumber(ARGV[1]))), 'next')
end
