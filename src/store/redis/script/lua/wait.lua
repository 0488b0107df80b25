-- Included after serve.lua: functions of scripts that may wait.

-- How long a waiter that is not the first keeps its place without asking: for each place before its own, and at most.
local PLACE_MS, RENEWAL_MS = 2000, 60000
-- How long peers count as present after they were seen.
local PEERS_MS = 60000

-- Do messages reach the caller? nil: yes; 0: they are not allowed; 1: it is not subscribed on this server.
local function trouble_of(entry)
    local waiter = read_waiter(entry)
    if is_gone(waiter) then
        return 1
    end
    local receivers = tell(waiter, 'test')
    return not receivers and 0 or receivers == 0 and 1 or nil
end

-- There are peers: a lock that is handed over is left free for them.
local function note_peers()
    redis.call('HSET', peers, 'about', '1')
    redis.call('PEXPIRE', peers, PEERS_MS)
end

local function is_queue_empty()
    return redis.call('EXISTS', queue) == 0
end

-- Does the hold end before the first waiter was to ask, as it was told when it was granted?
local function is_brief(ttl)
    return tonumber(ttl) < SAFETY_MS
end

-- The caller was in the queue, and is not: so the others may be lost, too.
local function miss_queue(manner)
    if manner == 'poll' then
        publish(ARGV[6], lock)
    end
end

-- Puts a waiter into the queue unless it is there: last; or, if it comes too late to claim, first; or
-- before all others if they wait for its hold.
local function enqueue(mode, waiter, manner)
    local entry = mode .. waiter
    if not redis.call('ZSCORE', queue, entry) then
        local score = '-inf'
        if mode ~= 'p' and manner == 'claim' then
            local first = redis.call('ZRANGEBYSCORE', queue, '(-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
            score = (first or 1) - 1
        elseif mode ~= 'p' then
            local last = redis.call('ZREVRANGEBYSCORE', queue, '+inf', '(-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
            score = (last or 0) + 1
        end
        redis.call('ZADD', queue, score, entry)
        miss_queue(manner)
    end
    redis.call('PEXPIRE', queue, QUEUE_MS)
    return entry
end

-- Reply to a caller that has to wait: its place, 0 for the first, and in how many ms to ask again. `delay`: of the
-- first.
local function place_of(entry, delay)
    local place = redis.call('ZRANK', queue, entry)
    return {place, delay or math.min(place * PLACE_MS, RENEWAL_MS)}
end

-- Reply to a caller that may not queue, as no messages reach it; nil if it may.
local function refuse_to_queue(mode)
    local trouble = manner == 'check' and trouble_of(mode .. waiter)
    if trouble then
        return {-1, trouble}
    end
    if peer == 'peers' then
        note_peers()
    end
end

-- Queues the caller, or keeps its place. The reply if it has to wait; nil: it can have the lock now, and waits no
-- longer.
local function queue_up(mode)
    local entry = enqueue(mode, waiter, manner)
    local delay = serve(us, entry, manner == 'poll')
    if delay ~= 0 and delay ~= false then
        return place_of(entry, delay)
    end
    leave(waiter)
    return delay == false and {-1, 0} or nil
end
