-- To be included, behind the file of a kind: the one procedure by which locks and permits are handed over, in
-- which every script ends that may have changed who could hold.

-- The grant procedure. While the first waiter can have the lock it is told, and becomes a holder if its
-- process lives. Who is the first then is told so if there is news, and is not there if its process is gone.
-- Returns when `me`, the caller, has to ask again if it is the first, 0 when it can have the lock: it takes
-- it itself. `is_free`: nobody holds, as the caller knows. Returns false when nobody can be told; nothing was
-- changed then.
local function serve(us, me, news, is_free)
    local granted_ms -- for how long nobody else can have what was granted just now
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
                granted_ms = admit(us, waiter, is_free)
                is_free = false
            end
        end
        news = true
    end
end
