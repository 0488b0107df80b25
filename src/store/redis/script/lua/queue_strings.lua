-- To be included, behind strings.lua, queue.lua and peers.lua: when a waiter can have a lock that is a string, and how it
-- gets it. Its mode is "o".

-- Laravel polls every 250 ms, so seldom that it would hardly get a lock that is left free once in a second.
UNBROKEN_MS, PEER_POLL_MS = 500, 260

-- As of the other locks.
local function delay_of_first(us, waiter, is_free)
    local left = is_free and -2 or redis.call('PTTL', lock)
    if left == -2 then
        return left_free(us)
    end
    local longest = SAFETY_MS
    local _, held = look()
    if not held then
        longest = 90 + us % 21 -- 100 ms, jittered
        redis.call('HDEL', peers, 'due', 'until', 'free') -- a peer has had its turn
    end
    return left == -1 and longest or math.max(1, math.min(left, longest)), false
end

-- Makes a holder of a waiter that was told, until it claims the lock or the claim window ends. Returns for how long
-- nobody else can have it.
local function admit(us, waiter)
    redis.call('SET', lock, select(2, parts_of(waiter.token)), 'PX', CLAIM_MS)
    redis.call('SET', record, '\n' .. waiter.token, 'PX', CLAIM_MS)
    return CLAIM_MS + math.ceil(us % 1000 / 1000)
end

-- Takes a waiter out of the queue; true if it was there.
local function leave(waiter)
    return redis.call('ZREM', queue, 'o' .. waiter) > 0
end
