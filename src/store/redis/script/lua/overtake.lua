-- Included after serve.lua, before wait.lua: waiters for permits that may overtake a first one that does not fit, as
-- a light one may pass a heavy one. Their weight has a leading zero.

local function may_overtake(weight)
    return string.sub(weight, 1, 1) == '0'
end

-- Grants permits to those behind the first waiter that may overtake it, and fit. To be called when the first one does
-- not fit. Returns whether `me`, the caller, is one of them, which takes the permits itself, and whether others are.
local function let_overtake(us, me)
    local has_granted = false
    local entries = redis.call('ZRANGE', queue, 1, -1, 'WITHSCORES')
    for at = 1, #entries, 2 do
        local entry, waiter = entries[at], read_waiter(entries[at])
        local weight, limit = string.match(waiter.token, '^(%d+) (%d+) ')
        if may_overtake(weight) and tonumber(weight) <= limit - used then
            if entry == me then
                return true, has_granted
            end
            redis.call('ZREM', queue, entry) -- before all else, as in serve()
            if not is_gone(waiter) then
                local receivers = tell(waiter, 'granted')
                if not receivers then
                    redis.call('ZADD', queue, entries[at + 1], entry)
                    return false, has_granted
                end
                if receivers > 0 then
                    admit(us, waiter)
                    has_granted = true
                end
            end
        end
    end
    return false, has_granted
end

-- As serve(), with them. What is left free for peers is not for them. The first waiter is told when to ask, as a grant
-- may end before all other holds.
local serve_in_order = serve
local function serve(us, me, news)
    local delay = serve_in_order(us, me, news)
    if delay == 0 or delay == false or is_left_to_peers then
        return delay
    end
    local is_mine, has_granted = let_overtake(us, me)
    if is_mine then
        return 0
    end
    return has_granted and serve_in_order(us, me, true) or delay
end
