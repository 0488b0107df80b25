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

-- A release leaves the lock free, as nobody waits.
local function note_free(us)
    if redis.call('HEXISTS', peers, 'due') == 1 then
        redis.call('HSET', peers, 'free', digits(math.floor(us / 1000)))
    end
end

-- A lock that was free is taken, not handed over: peers could have had it meanwhile. A break as long as one of their
-- polls counts as if it had been left free for them: all begins anew. A shorter one, in which few of them ask, counts
-- for its share of that: else they would never have a lock that is busy but for breaks of a millisecond.
local function end_break(us)
    local now = math.floor(us / 1000)
    local state = redis.call('HMGET', peers, 'about', 'due', 'free')
    if not state[1] then
        return
    end
    local due, free = tonumber(state[2]), tonumber(state[3])
    if not due or not free or now < free or now >= free + PEER_POLL_MS then
        redis.call('DEL', peers)
        return
    end
    due = due + math.ceil((now - free) * UNBROKEN_MS / PEER_POLL_MS)
    redis.call('HSET', peers, 'due', digits(math.min(due, now + UNBROKEN_MS)))
    redis.call('HDEL', peers, 'free')
end
