-- ARGV: how long to block. Never shortens a wait.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  redis.call('ZADD', of.calls, text(math.max(of.open, now + tonumber(ARGV[1]))), 'open')
end
