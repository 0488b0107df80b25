-- To be included, behind holders.lua, queue.lua and peers.lua: when a waiter can have a lock, and how it gets it.

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
        redis.call('HDEL', peers, 'due', 'until', 'free')
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
    redis.call('HDEL', peers, 'due', 'until', 'free') -- a peer has had its turn
    return math.max(1, math.min(left, foreign_ms)), false
end

-- Makes a holder of a waiter that was told, until it claims the lock or the claim window ends. A reader
-- that is to be a writer stays a reader for as long as it was. Returns for how long nobody else can have the
-- lock, if that is known.
local function admit(us, waiter, is_free)
    local expiry = expiry_after(us, CLAIM_MS)
    if waiter.mode == 'r' then
        admit_reader(waiter.token, expiry, '')
        return nil
    end
    local before = not is_free and redis.call('ZSCORE', lock, waiter.token)
    admit_writer(waiter.token, expiry, '')
    if before and tonumber(before) > tonumber(expiry) then
        redis.call('ZADD', lock, before, waiter.token)
        end_with_last_holder()
    end
    return waiter.mode == 'w' and CLAIM_MS + math.ceil(us % 1000 / 1000) or nil
end

-- Takes a waiter out of the queue, as whatever it waits; true if it was there.
local function leave(waiter)
    return redis.call('ZREM', queue, 'r' .. waiter, 'w' .. waiter, 'p' .. waiter) > 0
end
