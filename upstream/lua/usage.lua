-- Returns how many calls count against the first limit.
return prune(limit(1)).count
