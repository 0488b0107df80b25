-- Takes a lock whose key is a string, its owner, or renews it for the token that holds it; or waits for that.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue, 4 what is kept for its peers, 5 the database's fencing counter
-- ARGV: as those of acquire.lua, but for 1 the token, as strings.lua has it, with a nonce; a TTL of 0: for ever
-- Returns as acquire.lua, but for {-2, 0}.
--
-- The layout is Laravel's, and that of all programs that "SET key owner NX PX ttl". Another token of the same owner is
-- another holder, as it is to them.
local lock, record, queue, peers, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, manner, peer, waiter = ARGV[1], ARGV[3] or 'try', ARGV[4], ARGV[5]
local ttl, note = string.match(ARGV[2], '^(%d+) ?(.*)$')
local us = now_us()

-- include numbers.lua
-- include strings.lua
-- include holder_record.lua
-- include fencing.lua

local nonce, owner = parts_of(token)

-- `held`: what is recorded of the hold, if it is the caller's already.
local function take(fencing, held)
    hold(token, ttl, noted(fencing, held))
    return fencing
end

-- Fast paths, before the rest of the script is needed: an acquire that finds neither a holder nor a waiter;
if manner ~= 'poll' and redis.call('EXISTS', lock, queue, peers) == 0 then
    return take(issue_fencing())
end

-- What is recorded of the caller's hold, '' if that is lost; nil: it has none.
local current, held, by = look()
if current ~= owner or by ~= token and (by or nonce ~= owner) then
    held = nil
elseif not by then
    held = ''
end

-- a claim in time, by a waiter that will not hold for so short (queue.lua's SAFETY_MS) that others must be told;
local is_long = ttl == '0' or tonumber(ttl) >= 1100
if manner == 'claim' and is_long and held == '' then
    redis.call('DEL', record) -- before all else, as memory may be short
    return take(issue_fencing())
end

-- and a try that finds another holder.
if manner == 'try' and peer ~= 'mute' and current and not held then
    return false
end

-- include queue.lua
-- include peers.lua
-- include queue_strings.lua
-- include serve.lua
-- include wait.lua

-- A free lock was not handed over: so a peer that polls could have had it.
local function take_free()
    local fencing = issue_fencing()
    redis.call('DEL', peers)
    return take(fencing)
end

local is_free = not current and redis.call('EXISTS', lock) == 0
if held then
    local fencing = string.match(held, '^%d+')
    if not fencing then
        redis.call('DEL', record) -- as above
    end
    fencing = take(fencing or issue_fencing(), held)
    if waiter and (leave(waiter) or not is_long) then
        serve(us, nil, true)
    end
    return fencing
end
if is_free and is_queue_empty() then
    miss_queue(manner)
    return take_free()
end

if manner == 'try' then
    if peer == 'mute' and not is_queue_empty() then
        note_peers()
    end
    if not is_free then
        return false
    end
    local allowed = serve(us, nil, false) ~= false
    if redis.call('EXISTS', lock) == 0
        and (not allowed or is_queue_empty() or peer == 'mute' and left_free(us) > 0) then
        return take_free()
    end
    return false
end

local answer = refuse_to_queue('o') or queue_up('o')
if answer then
    return answer
end
local fencing = take_free()
serve(us, nil, true)
return fencing
