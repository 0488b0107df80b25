-- Included after the file of a kind (queue_locks.lua, queue_permits.lua): the one procedure that hands locks and
-- permits over. Every script that may have changed which waiter could hold ends with it.

-- Has the grant procedure granted nothing, as nobody waits?
local nobody_waits = false

-- The grant procedure. While the first waiter can have the lock it is told, and becomes a holder if its process lives.
-- The next first waiter is told its place if that is news, and is removed if its process is gone.
-- Returns when `me`, the caller, has to ask again if it is the first, 0 when it can have the lock: it takes it itself.
-- `is_free`: the caller knows that the lock is free. Returns false, with nothing changed, when messages are not
-- allowed.
local function serve(us, me, news, is_free)
    local granted_ms -- for how long nobody else can have what was granted just now
    while true do
        local entry, score = unpack(redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
        if not entry then
            nobody_waits = not granted_ms
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
