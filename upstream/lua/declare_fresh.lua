-- Opens only limits that hold no call at all.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  if of.count == 0 then redis.call('ZADD', of.calls, text(now), 'open') end
end
