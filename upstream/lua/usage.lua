-- Returns how many calls count against the first limit, and how long it admits none.
local of = prune(limit(1))
return {of.count, math.max(0, of.open - now)}
