-- ARGV: permit, how long before now it was counted at least. A plain ZADD: a call that a flush forgot is counted again.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  redis.call('ZADD', of.calls, text(now - tonumber(ARGV[2]) + of.window), ARGV[1])
end
