-- Takes permits of a semaphore, or renews them for their holder; or waits for them.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times, 3 their record, 4 the queue, 5 what is kept for peers
-- ARGV: 1 the holder's token, 2 the TTL in ms, the weight and the limit, with blanks between them, and behind
--       another one the holder's note, if it leaves one; 3 to 6 as those of acquire.lua. The waiter's token is
--       "WEIGHT LIMIT TOKEN".
-- Returns 1; else as acquire.lua, but for {-2, 0}. A weight with a leading zero is one of a holder that may overtake a
-- first waiter that does not fit.
local weights, times, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, manner, peer, waiter = ARGV[1], ARGV[3] or 'try', ARGV[4], ARGV[5]
local ttl, weight, limit, note = string.match(ARGV[2], '^(%d+) (%d+) (%d+) ?(.*)$')
local us = now_us()

-- include permit_ends.lua

-- `held`: what is recorded of it, if it holds already.
local function noted(held)
    if note == '' then
        return limit
    end
    return limit .. ' ' .. (held and string.match(held, '^%d+ (%d+) ') or digits(us)) .. ' ' .. note
end

-- Nobody there: the same in fewer commands, as nothing has to be looked at.
local there = manner ~= 'poll' and redis.call('EXISTS', weights, times, record, queue, peers)
if there == 0 then
    local over = end_after(us, ttl)
    weight = tonumber(weight)
    redis.call('HSET', record, token, noted(), '', weight)
    redis.call('ZADD', times, over, token)
    redis.call('ZADD', weights, weight, token)
    keep_until(over)
    return 1
end

-- include permits.lua

local was_known -- before anything was changed: the keys have the mark
local lock = string.sub(weights, 1, -#':weight' - 1) -- what messages call the semaphore

local function fits()
    return tonumber(weight) <= limit - used
end

local function take()
    put(token, tonumber(weight), noted(), end_after(us, ttl))
    end_with_last_holder()
    return 1
end

-- Of who holds already until `before`: its weight stays, and its end unless that becomes later, as another process
-- with this token may count on it. On the end of a grant nobody counts yet.
local function renew(before)
    weight = redis.call('ZSCORE', weights, token) or weight
    local over = end_after(us, ttl)
    over = is_unclaimed(recorded) and over or math.max(over, before)
    put(token, tonumber(weight), noted(recorded), over)
    if not was_known then
        end_with_last_holder()
    elseif over > kept_for then
        keep_until(over)
    end
    return 1
end

look()
was_known = is_known
tally(us)
local is_held = (recorded or not was_known) and redis.call('ZSCORE', times, token)
local is_alone = there == key_count -- nobody waits, and nothing is kept for peers: there are no keys of these

-- One more holder of ours: again in fewer commands. The keys stay if a holder does, and end later if this one's is last.
if is_alone and was_known and not is_held and count > 0 and fits() then
    local over = end_after(us, ttl)
    own_sum = own_sum + weight
    redis.call('HSET', record, token, noted(), '', own_sum)
    redis.call('ZADD', times, over, token)
    redis.call('ZADD', weights, tonumber(weight), token)
    if over > kept_for then
        keep_until(over)
    end
    return 1
end

if is_alone and (is_held or fits() or manner == 'try') then
    local answer = is_held and renew(is_held) or fits() and take()
    note_sum()
    return answer
end

-- include queue.lua
-- include peers.lua
-- include queue_permits.lua
-- include serve.lua
-- include overtake.lua
-- include wait.lua

local function acquire()
    if is_held then
        renew(is_held)
        local has_left = waiter and leave(waiter)
        serve(us, nil, has_left or waiter and is_brief(ttl)) -- holds of others may have ended
        return 1
    end
    if is_queue_empty() then
        if fits() then
            miss_queue(manner)
            take()
            redis.call('DEL', peers) -- who polls could have had it; behind what needs memory
            return 1
        end
        if manner == 'try' then
            return false
        end
    end
    if manner == 'try' then
        if peer == 'mute' then
            note_peers()
        end
        local allowed = serve(us, nil, false) ~= false
        if fits() and (not allowed or is_queue_empty() or peer == 'mute' and is_left_to_peers) then
            return take()
        end
        if fits() and may_overtake(weight) and not is_left_to_peers then
            take()
            if is_brief(ttl) then
                serve(us, nil, true)
            end
            return 1
        end
        return false
    end
    local answer = refuse_to_queue('s') or queue_up('s')
    if answer then
        return answer
    end
    take()
    serve(us, nil, true)
    return 1
end

local answer = acquire()
note_sum()
return answer
