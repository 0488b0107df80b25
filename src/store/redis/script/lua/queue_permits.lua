-- To be included, behind permits.lua, queue.lua and peers.lua: when a waiter can have permits, and how it gets
-- them. A heavy waiter in front is not overtaken by light ones, but by those that may (overtake.lua).

-- Are permits that the first waiter could have left free for peers? Else who polls would overtake a heavy one.
local is_left_to_peers = false

-- As of locks. To be called behind tally().
local function delay_of_first(us, waiter)
    local weight, limit = string.match(waiter.token, '^(%d+) (%d+) ')
    is_left_to_peers = false
    if tonumber(weight) <= limit - used then
        local delay, is_new = left_free(us)
        is_left_to_peers = delay > 0
        return delay, is_new
    end
    local first = redis.call('ZRANGE', times, 0, 0, 'WITHSCORES')[2]
    local left = math.ceil(first * 1000 - us / 1000)
    if count == own_count then
        return math.max(1, math.min(left, SAFETY_MS)), false
    end
    redis.call('HDEL', peers, 'due', 'until') -- a peer has had its turn
    return math.max(1, math.min(left, 90 + us % 21)), false -- 100 ms, jittered
end

-- Makes a holder of a waiter that was told, until it claims the permits or the claim window ends. If its token holds
-- already, by another process, that hold stays as it is.
local function admit(us, waiter)
    local weight, limit, token = string.match(waiter.token, '^(%d+) (%d+) (.*)$')
    local before = redis.call('ZSCORE', times, token)
    local held = before and redis.call('ZSCORE', weights, token)
    if held then
        put(token, tonumber(held), redis.call('HGET', record, token) or limit,
            math.max(end_after(us, CLAIM_MS), before))
    else
        put(token, tonumber(weight), limit .. ' ?', end_after(us, CLAIM_MS))
    end
    end_with_last_holder()
end

-- Takes a waiter out of the queue; true if it was there.
local function leave(waiter)
    return redis.call('ZREM', queue, 's' .. waiter) > 0
end
