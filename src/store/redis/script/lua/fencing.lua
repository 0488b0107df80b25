-- Included after numbers.lua: the fencing token of a new holder.

-- The first thing that is written needs memory: what has changed something goes on when that is short.
local function issue_fencing()
    local last = tonumber(redis.call('GET', counter) or 0) or 0
    local fencing = digits(math.max(last + 1, us))
    redis.call('SET', counter, fencing)
    return fencing
end
