-- ARGV: horizon. Returns how many calls fit from now until then.
local horizon, allowance = tonumber(ARGV[1]), math.huge
for i = 1, #KEYS / 2 do
  local calls, waiting, _, pace, capacity, closed_for = limit(i)
  local next, count = open(calls, closed_for)
  local paced = math.floor((horizon - math.max(0, next - now)) / pace) + 1
  local free = capacity - count
  if waiters(waiting, '') > 0 then free = 0 end
  allowance = math.max(0, math.min(allowance, paced, free))
end
return allowance
