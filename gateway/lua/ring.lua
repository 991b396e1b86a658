-- KEYS: the moment until which the dispatchers sleep, the bell. ARGV: a moment at which something falls due (Unix seconds).
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or 'inf') then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('RPUSH', KEYS[2], ARGV[1])
  redis.call('LTRIM', KEYS[2], -16, -1)
end
