-- Included after holders.lua: the wait queue, and the one procedure that hands a lock over. Every script that may have
-- changed which waiter could hold ends with it. docs/redis-queue.md has the invariants.
--
-- The queue is a sorted set of waiters in their order. A waiter is a text: what it waits to be ("r" a
-- reader, "w" a writer, "p" a writer that is a reader meanwhile), its ticket, a number that its process
-- has given to this wait alone, the length of its token, its token, and its process's channel.

-- Claim window: how long a granted lock waits for the waiter's claim.
local CLAIM_MS = 1000
-- Interval at which the first waiter asks although the holders will wake it: longer than a claim window, to find its
-- end.
local SAFETY_MS = 1100
-- Life of a queue after its last command; QUEUE_LIFE_NS of redis/lock/rollback.c.
local QUEUE_MS = 180000
-- A lock that is handed over without a break is left free for polling peers every so often, for one of their polls.
local UNBROKEN_MS, PEER_POLL_MS = 1000, 110

-- False when the caller has seen that nothing is kept for peers.
local may_have_peers = true

local function drop_expired(us)
    redis.call('ZREMRANGEBYSCORE', lock, '-inf', digits(math.floor(us / 1000)))
end

local function admit_reader(token, expiry, held)
    redis.call('HSET', record, token, held)
    redis.call('ZADD', lock, expiry, token)
    if redis.call('HLEN', record) > redis.call('ZCARD', lock) then
        -- Readers of ours that have expired, or that peers have released.
        for _, holder in ipairs(redis.call('HKEYS', record)) do
            if not redis.call('ZSCORE', lock, holder) then
                redis.call('HDEL', record, holder)
            end
        end
    end
    end_with_last_holder()
end

local function read_waiter(entry)
    local mode, ticket, size, at = string.match(entry, '^(%l)(%d+) (%d+) ()')
    return {mode = mode, ticket = ticket, token = string.sub(entry, at, at + size - 1),
            channel = string.sub(entry, at + size)}
end

-- In a cluster messages are sharded: the server of the slot sends them to its own subscribers.
local function is_sharded(channel)
    return string.sub(channel, -6) == ':shard'
end

-- How many heard it; nil where messages are not allowed.
local function publish(channel, text)
    local receivers = redis.pcall(is_sharded(channel) and 'SPUBLISH' or 'PUBLISH', channel, text)
    return type(receivers) == 'number' and receivers or nil
end

-- Is the waiter's process gone? PUBLISH tells that, too, but also counts subscribers of patterns.
local function is_gone(waiter)
    local count = is_sharded(waiter.channel) and 'SHARDNUMSUB' or 'NUMSUB'
    return redis.pcall('PUBSUB', count, waiter.channel)[2] == 0
end

-- As publish().
local function tell(waiter, word, ms)
    local text = word .. ' ' .. waiter.ticket
    return publish(waiter.channel, ms and text .. ' ' .. digits(ms) or text)
end

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

-- Are all holders ours? A reader too many in the record makes no more of it than a late poll.
local function are_ours(count, is_writer)
    if not is_writer then
        return redis.call('HLEN', record) >= count
    end
    for _, holder in ipairs(redis.call('ZRANGE', lock, 0, -1)) do
        if holder ~= '__write__' and redis.call('HEXISTS', record, holder) == 0 then
            return false
        end
    end
    return true
end

-- After how many ms the first waiter has to ask again, 0 if it can have the lock now; and whether it does
-- not know that yet, though it has been the first for long.
local function delay_of_first(us, waiter, is_free)
    if is_free then
        return left_free(us)
    end
    local foreign_ms = 90 + us % 21 -- 100 ms, jittered
    if redis.call('TYPE', lock).ok == 'string' then
        redis.call('HDEL', peers, 'due', 'until')
        return foreign_ms, false
    end
    drop_expired(us)
    local count = redis.call('ZCARD', lock)
    if count == 0 then
        return left_free(us)
    end
    local is_writer = redis.call('ZSCORE', lock, '__write__')
    if waiter.mode == 'r' and not is_writer
        or waiter.mode == 'p' and count == 1 and redis.call('ZSCORE', lock, waiter.token) then
        return 0, false
    end
    local last = redis.call('ZREVRANGE', lock, 0, 1, 'WITHSCORES')
    local left = (last[1] == waiter.token and last[4] or last[2]) - math.floor(us / 1000)
    if are_ours(count, is_writer) then
        return math.max(1, math.min(left, SAFETY_MS)), false
    end
    redis.call('HDEL', peers, 'due', 'until') -- a peer has had its turn
    return math.max(1, math.min(left, foreign_ms)), false
end

-- Makes a holder of a waiter that was told, until it claims the lock or the claim window ends. A reader
-- that is to be a writer stays a reader for as long as it was.
local function admit(us, waiter, is_free)
    local expiry = expiry_after(us, CLAIM_MS)
    if waiter.mode == 'r' then
        return admit_reader(waiter.token, expiry, '')
    end
    local before = not is_free and redis.call('ZSCORE', lock, waiter.token)
    admit_writer(waiter.token, expiry, '')
    if before and tonumber(before) > tonumber(expiry) then
        redis.call('ZADD', lock, before, waiter.token)
        end_with_last_holder()
    end
end

-- The grant procedure. While the first waiter can have the lock it is told, and becomes a holder if its process lives.
-- The next first waiter is told its place if that is news, and is removed if its process is gone.
-- Returns when `me`, the caller, has to ask again if it is the first, 0 when it can have the lock: it takes it itself.
-- `is_free`: the caller knows that the lock is free. Returns false, with nothing changed, when messages are not
-- allowed.
local function serve(us, me, news, is_free)
    local granted_ms -- for how long a writer has the lock that it was granted just now
    while true do
        local entry, score = unpack(redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
        if not entry then
            return nil
        end
        local waiter = read_waiter(entry)
        local delay, is_new = granted_ms, false
        if not granted_ms then
            delay, is_new = delay_of_first(us, waiter, is_free)
        end
        if entry == me then
            return delay
        end
        if delay > 0 and not is_gone(waiter) then
            if not (news or is_new) or tell(waiter, 'first', delay) ~= 0 then
                return nil
            end
        end
        -- Before all else, as memory that has run short stops no script that has changed something.
        redis.call('ZREM', queue, entry)
        if delay == 0 and not is_gone(waiter) then
            local receivers = tell(waiter, 'granted')
            if not receivers then
                redis.call('ZADD', queue, score, entry)
                redis.call('PEXPIRE', queue, QUEUE_MS)
                return false
            end
            if receivers > 0 then
                admit(us, waiter, is_free)
                is_free = false
                granted_ms = waiter.mode == 'w' and CLAIM_MS + math.ceil(us % 1000 / 1000) or nil
            end
        end
        news = true
    end
end
