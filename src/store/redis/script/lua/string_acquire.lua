-- Takes a lock whose key is a string, its owner, or renews it for the token that holds it; or waits for that.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue, 4 what is kept for its peers, 5 the database's fencing counter
-- ARGV: as those of acquire.lua, but for 1 the token, as strings.lua has it, with a nonce; and the TTL, for how long
--       the key is kept: 1 ms more than its holder counts on, as Redis cuts its time to whole ones; 0: for ever
-- Returns as acquire.lua, but for {-2, 0}.
--
-- The layout is Laravel's, and that of all programs that "SET key owner NX PX ttl". Another token of the same owner is
-- another holder, as it is to them.
--
-- The way of an acquire that finds neither a holder nor a waiter, and the first ways out of the block below, make no
-- function: with what it refers to, each costs the server up to half as much as a command.
local lock, record, queue, peers, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, manner = ARGV[1], ARGV[3] or 'try'
local ttl, note = string.match(ARGV[2], '^(%d+)(.*)$')
local blank = string.find(token, ' ', 1, true)
local owner = blank and string.sub(token, blank + 1) or token
local us, now -- the time
local held -- what is recorded of the caller's hold, '' if that is lost; nil: it has none
local when_taken -- a function, if anything is to be done then

-- include record_ms.lua

if manner == 'poll' or redis.call('EXISTS', lock, queue, peers) > 0 then
    local peer, waiter = ARGV[4], ARGV[5]
    local current, kept = unpack(redis.call('MGET', lock, record))

    -- A try that finds another holder;
    if manner == 'try' and peer ~= 'mute' and current and current ~= owner then
        return false
    end

    -- a claim in time, by a waiter that will not hold for so short (queue.lua's SAFETY_MS) that others must be told;
    local is_long = ttl == '0' or tonumber(ttl) > 1100
    if manner == 'claim' and is_long and current == owner and kept == '\n' .. token then
        held = ''
    else
        -- and everything else.
        us, now = now_us()

        -- include numbers.lua
        -- include strings.lua
        -- include queue.lua
        -- include peers.lua
        -- include queue_strings.lua
        -- include serve.lua
        -- include wait.lua

        local function take_free()
            end_break(us)
        end

        local recorded, by = recorded_of(current, kept)
        if by == token then
            held = recorded
        elseif current == owner and not by and not blank then
            held = ''
        end

        local is_free = not current and redis.call('EXISTS', lock) == 0
        if held then
            when_taken = function()
                if waiter and (leave(waiter) or not is_long) then
                    serve(us, nil, true)
                end
            end
        elseif is_free and is_queue_empty() then
            miss_queue(manner)
            when_taken = take_free
        elseif manner == 'try' then
            if peer == 'mute' and not is_queue_empty() then
                note_peers()
            end
            if not is_free then
                return false
            end
            local allowed = serve(us, nil, false) ~= false
            if redis.call('EXISTS', lock) > 0
                or allowed and not is_queue_empty() and not (peer == 'mute' and left_free(us) > 0) then
                return false
            end
            when_taken = take_free
        else
            local answer = refuse_to_queue('o') or queue_up('o')
            if answer then
                return answer
            end
            when_taken = function()
                end_break(us)
                serve(us, nil, true)
            end
        end
    end
end

local fencing = held and string.match(held, '^%d+')
if not fencing then
    if held then
        redis.call('DEL', record) -- before all else, as memory may be short
    end
    if not now then
        us, now = now_us()
    end
    -- include fencing.lua
end
if note ~= '' then
    note = ' ' .. (held and string.match(held, '^%d* (%d+) ') or now) .. note
end
note = fencing .. note .. '\n' .. token
if ttl == '0' then
    redis.call('SET', lock, owner)
    redis.call('SET', record, note, 'PX', RECORD_MS)
else
    redis.call('SET', lock, owner, 'PX', ttl)
    redis.call('SET', record, note, 'PX', ttl)
end
if when_taken then
    when_taken()
end
return fencing
