-- Takes a lock beside other readers, or renews it for one of them, or demotes its writer; or waits for
-- that.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers
-- ARGV: as those of acquire.lua; a waiter that tries waits no longer
-- Returns 1; else as acquire.lua.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, manner, peer, waiter = ARGV[1], ARGV[3] or 'try', ARGV[4], ARGV[5]
local ttl, note = string.match(ARGV[2], '^(%d+) ?(.*)$')
local us = now_us()

-- include numbers.lua
-- include holders.lua

-- `held`: the caller's record, if it is a reader already. A reader has no fencing token.
local function noted(held)
    if note == '' then
        return ''
    end
    return ' ' .. (held and string.match(held, '^ (%d+) ') or digits(us)) .. ' ' .. note
end

-- Fast path, before the rest of the script is needed.
if manner ~= 'poll' and redis.call('EXISTS', lock, record, queue, peers) == 0 then
    redis.call('HSET', record, token, noted())
    redis.call('ZADD', lock, expiry_after(us, ttl), token)
    end_with_last_holder()
    return 1
end

-- include queue.lua
-- include peers.lua
-- include queue_locks.lua
-- include serve.lua
-- include wait.lua

local kind = redis.call('TYPE', lock).ok
local left = waiter and manner == 'try' and leave(waiter)

-- `held`: what is recorded of it, if it is a reader already.
local function join(held)
    local was_free = redis.call('EXISTS', lock) == 0
    admit_reader(token, expiry_after(us, ttl), noted(held))
    if was_free then
        end_break(us)
    end
    return 1
end

local free = kind ~= 'string'
if free and kind ~= 'none' then
    drop_expired(us)
    local writer = redis.call('ZSCORE', lock, '__write__')
    if redis.call('ZSCORE', lock, token) then
        local demoted = writer and redis.call('ZREM', lock, '__write__') == 1
        if waiter then
            left = leave(waiter) or left or is_brief(ttl)
        end
        join(not writer and redis.call('HGET', record, token))
        if demoted or left then
            serve(us, nil, left)
        end
        return 1
    end
    free = not writer
end
if free and is_queue_empty() then
    miss_queue(manner)
    return join()
end

if manner == 'try' then
    if peer == 'mute' and not is_queue_empty() then
        note_peers()
    end
    -- A writer that waits, if it lives, goes before new readers.
    local allowed = not (free or left) or serve(us, nil, left) ~= false
    if free and not redis.call('ZSCORE', lock, '__write__')
        and (not allowed or is_queue_empty()
             or peer == 'mute' and redis.call('EXISTS', lock) == 0 and left_free(us) > 0) then
        return join()
    end
    return false
end

local refusal = refuse_to_queue('r')
if refusal then
    return refusal
end
local answer = queue_up('r')
if answer then
    return answer
end
join()
serve(us, nil, true)
return 1
