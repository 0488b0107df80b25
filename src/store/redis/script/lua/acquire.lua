-- Takes a lock exclusively, or renews it for its writer, or promotes its only reader; or waits for that.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers, 5 the database's
--       fencing counter
-- ARGV: 1 the holder's token, 2 the TTL in ms, and after a blank the holder information, if there is any
--       (before a login a server reads no more than ten arguments, and would not say that it needs one),
--       3 how: "try" (the default), "wait", "check" (the same, and look whether messages arrive), "poll"
--       (it waits already), "claim" (it was told that the lock is its),
--       4 "peers" where there are peers that poll, "mute" if the caller is one itself, else "",
--       5 the waiter, but for what it waits to be, 6 the channel of those whose queue was lost
-- Returns the fencing token. If the lock has another holder: nil for a try; else the waiter's place
-- and the ms until it has to ask again. {-1, 0}: messages are not allowed, {-1, 1}: it is not subscribed,
-- so it does not wait.
-- {-2, 0}: another reader waits to be the writer, and both would wait for ever.
--
-- The lock is Symfony's sorted set: a member for each holder, and "__write__" while it is a writer,
-- with the time in ms at which each expires. A string is a lock of Symfony's before 5.2, or Laravel's.
-- The record has a field for each holder of ours: its fencing token, nothing of a reader; and if there is holder
-- information the time since when it holds in that way, in µs, and that. Or '', until it claims what it was granted.
--
-- The way of an acquire that finds no key at all, and that of a claim in time, make no function: with what it refers
-- to, each costs the server up to half as much as a command.
local lock, record, queue, peers, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, manner = ARGV[1], ARGV[3] or 'try'
local ttl, note = string.match(ARGV[2], '^(%d+)(.*)$')
local us, now = now_us()
local held -- what is recorded of the caller, if it is the writer already
local is_anew = false -- what else is recorded is of others, and over
local when_taken -- a function, if anything is to be done then

-- A claim in time, by a waiter that will not hold for so short (queue.lua's SAFETY_MS) that others must be told;
if manner == 'claim' and tonumber(ttl) >= 1100 and redis.call('HGET', record, token) == ''
    and redis.call('ZSCORE', lock, token)
    and tonumber(redis.call('ZSCORE', lock, '__write__') or 0) > us / 1000 then
    redis.call('DEL', record) -- before all else, as memory may be short

-- an acquire that finds no key at all, which has nothing to do here;
elseif manner == 'poll' or redis.call('EXISTS', lock, record, queue, peers) > 0 then
    -- and everything else.
    local peer, waiter = ARGV[4], ARGV[5]

    -- include numbers.lua
    -- include holders.lua
    -- include queue.lua
    -- include peers.lua
    -- include queue_locks.lua
    -- include serve.lua
    -- include wait.lua

    local function take_free()
        end_break(us)
    end

    local kind = redis.call('TYPE', lock).ok
    local count, mode, is_holder = 0, 'w', false
    if kind == 'string' then
        count = 1
    elseif kind ~= 'none' then
        drop_expired(us)
        count = redis.call('ZCARD', lock)
        if redis.call('ZSCORE', lock, token) then
            local is_writer = redis.call('ZSCORE', lock, '__write__')
            is_holder = is_writer or count == 1
            held = is_writer and redis.call('HGET', record, token)
            mode = 'p'
        end
    end
    if is_holder then
        is_anew = not held or not string.find(held, '^%d')
        when_taken = function()
            if waiter and (leave(waiter) or is_brief(ttl)) then
                serve(us, nil, true)
            end
        end
    elseif count == 0 and is_queue_empty() then
        miss_queue(manner)
        is_anew, when_taken = true, take_free
    elseif manner == 'try' then
        if peer == 'mute' and not is_queue_empty() then
            note_peers()
        end
        if count > 0 then
            return false
        end
        local allowed = serve(us, nil, false) ~= false
        if redis.call('ZCARD', lock) > 0
            or allowed and not is_queue_empty() and not (peer == 'mute' and left_free(us) > 0) then
            return false
        end
        is_anew, when_taken = true, take_free
    else
        local refusal = refuse_to_queue(mode)
        if refusal then
            return refusal
        end
        if mode == 'p' then
            local first = redis.call('ZRANGE', queue, 0, 0)[1]
            if first and string.sub(first, 1, 1) == 'p' and first ~= 'p' .. waiter then
                local promoted = read_waiter(first)
                if not is_gone(promoted) and tell(promoted, 'test') ~= 0 then
                    return {-2, 0}
                end
                redis.call('ZREM', queue, first)
            end
        elseif redis.call('ZSCORE', queue, 'p' .. waiter) then
            mode = 'p' -- its hold has ended meanwhile
        end
        local answer = queue_up(mode)
        if answer then
            return answer
        end
        local was_free = not redis.call('ZSCORE', lock, token)
        is_anew = true
        when_taken = function()
            if was_free then
                end_break(us)
            end
            serve(us, nil, true)
        end
    end
end

local fencing = held and string.match(held, '^%d+')
if not fencing then
    -- include fencing.lua
end
if is_anew then
    redis.call('DEL', record) -- peers leave behind what they know nothing of
end
if note ~= '' then
    note = ' ' .. (held and string.match(held, '^%d* (%d+) ') or now) .. note
end
local expiry = string.format('%.0f', math.ceil(us / 1000) + ttl)
redis.call('HSET', record, token, fencing .. note)
redis.call('ZADD', lock, expiry, token, expiry, '__write__')
redis.call('PEXPIREAT', lock, expiry)
redis.call('PEXPIREAT', record, expiry)
if when_taken then
    when_taken()
end
return fencing
