-- ARGV: permit. Returns 1 while its call can still be begun, 0 when it is void, used or cancelled.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  if not redis.call('ZSCORE', of.booked, ARGV[1]) then return 0 end
end
return 1
