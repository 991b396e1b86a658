-- ARGV: permit. A plain ZADD: a call that a flush forgot is counted again.
for i = 1, #KEYS / 2 do
  local calls, _, window = limit(i)
  redis.call('ZADD', calls, text(now + window), ARGV[1])
  keep(calls)
end
