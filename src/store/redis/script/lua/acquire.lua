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
-- The record has a field for each holder of ours, which holder_record.lua writes; or '', until it claims what
-- it was granted.
local lock, record, queue, peers, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, manner, peer, waiter = ARGV[1], ARGV[3] or 'try', ARGV[4], ARGV[5]
local ttl, note = string.match(ARGV[2], '^(%d+) ?(.*)$')
local us = now_us()

-- include numbers.lua
-- include holders.lua
-- include holder_record.lua
-- include fencing.lua

-- `held`: what is recorded of the hold, if it is the caller's already.
local function take(fencing, held)
    admit_writer(token, expiry_after(us, ttl), noted(fencing, held))
    return fencing
end

-- Fast paths, before the rest of the script is needed: a claim in time, by a waiter that will not hold for so short
-- (queue.lua's SAFETY_MS) that others must be told;
if manner == 'claim' and tonumber(ttl) >= 1100 and redis.call('HGET', record, token) == ''
    and redis.call('ZSCORE', lock, token)
    and tonumber(redis.call('ZSCORE', lock, '__write__') or 0) > us / 1000 then
    redis.call('DEL', record) -- before all else, as memory may be short
    return take(issue_fencing())
end

-- and an acquire that finds no key at all.
if manner ~= 'poll' and redis.call('EXISTS', lock, record, queue, peers) == 0 then
    return take(issue_fencing())
end

-- include queue.lua
-- include peers.lua
-- include queue_locks.lua
-- include serve.lua
-- include wait.lua

local function take_anew()
    local fencing = issue_fencing()
    redis.call('DEL', record) -- peers leave behind what they know nothing of
    return take(fencing)
end

-- A free lock was not handed over: so a peer that polls could have had it.
local function take_free()
    local fencing = issue_fencing()
    redis.call('DEL', record, peers)
    return take(fencing)
end

local kind = redis.call('TYPE', lock).ok
local count, mode = 0, 'w'
if kind == 'string' then
    count = 1
elseif kind ~= 'none' then
    drop_expired(us)
    count = redis.call('ZCARD', lock)
    if redis.call('ZSCORE', lock, token) then
        local is_writer = redis.call('ZSCORE', lock, '__write__')
        if is_writer or count == 1 then
            local held = is_writer and redis.call('HGET', record, token)
            local fencing = held and string.match(held, '^%d+')
            fencing = fencing and take(fencing, held) or take_anew()
            if waiter and (leave(waiter) or is_brief(ttl)) then
                serve(us, nil, true)
            end
            return fencing
        end
        mode = 'p'
    end
end
if count == 0 and is_queue_empty() then
    miss_queue(manner)
    return take_free()
end

if manner == 'try' then
    if peer == 'mute' and not is_queue_empty() then
        note_peers()
    end
    if count > 0 then
        return false
    end
    local allowed = serve(us, nil, false) ~= false
    if redis.call('ZCARD', lock) == 0
        and (not allowed or is_queue_empty() or peer == 'mute' and left_free(us) > 0) then
        return take_free()
    end
    return false
end

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
local fencing = redis.call('ZSCORE', lock, token) and take_anew() or take_free()
serve(us, nil, true)
return fencing
