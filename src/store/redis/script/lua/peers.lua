-- Included after queue.lua: how long a free lock is left to peers that poll.

-- A lock that is handed over without a break is left free for polling peers every so often, for one of their polls.
local UNBROKEN_MS, PEER_POLL_MS = 1000, 110

-- False when the caller has seen that nothing is kept for peers.
local may_have_peers = true

-- How long a free lock is left to peers that poll, 0 when it is not; and whether that begins now.
local function left_free(us)
    if not may_have_peers then
        return 0, false
    end
    local now = math.floor(us / 1000)
    local state = redis.call('HMGET', peers, 'about', 'due', 'until')
    local due, free_until = tonumber(state[2]), tonumber(state[3])
    if free_until and now < free_until then
        return free_until - now, false
    end
    if due and not free_until and now >= due then
        redis.call('HSET', peers, 'until', digits(now + PEER_POLL_MS))
        return PEER_POLL_MS, true
    end
    if state[1] and (free_until or not due) then
        redis.call('HDEL', peers, 'until')
        redis.call('HSET', peers, 'due', digits(now + UNBROKEN_MS)) -- it is handed over from now on
    end
    return 0, false
end
