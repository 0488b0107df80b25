-- A count-down: members that have to arrive, and a last step when all have.
--
-- KEYS: 1 the count-down: a hash, 2 its members: a hash of "l" (left), "a" (arrived), "f" (failed)
-- ARGV: 1 the request's identity, 2 the function; "open": 3 the TTL in ms, 4 the members: "LENGTH MEMBER" behind each
--       other, in byte order, 5 the payload, if there is a last step; "arrive": 3 the TTL, 4 the member, 5 "1" if
--       it has failed, 6 how long it may take to do the last step, in ms; "done": 3 the TTL; "cancel"; "state":
--       3 the number of a wait and 4 the channel of its process, if it waits for the end; "inspect"
-- Returns a list of texts: see latch_function in src/latch.h. A waiter that will not be told is answered with one text
-- more: "deaf", it is not subscribed to its channel; "mute", messages are not allowed; "full", the server has no memory
-- for it.
--
-- Fields: state, "open" (also when all have arrived), "done" or "cancelled". total, left: numbers of members.
-- members: a digest of them. payload. claim: until when somebody does the last step, in microseconds. claimed: the
-- request that does. requests: those that have opened or cancelled it. "w NUMBER CHANNEL": a waiter, and until when it
-- counts as one, in microseconds.
local count, members = KEYS[1], KEYS[2]
local id, action = ARGV[1], ARGV[2]
local state = redis.call('HGET', count, 'state') or 'none'
local member_count = redis.call('HLEN', members) -- an error, if need be, before anything is written

local function keep(ttl)
    for _, key in ipairs(KEYS) do
        if redis.call('PTTL', key) < tonumber(ttl) then
            redis.call('PEXPIRE', key, ttl)
        end
    end
end

local function left()
    return tonumber(redis.call('HGET', count, 'left') or 0)
end

local function told_state()
    return state == 'open' and left() == 0 and 'arrived' or state
end

-- Adds the members that are in that state to the list, and returns their number.
local function add_members(list, wanted)
    local all = redis.call('HGETALL', members)
    local before = #list
    for at = 1, #all, 2 do
        if all[at + 1] == wanted then
            list[#list + 1] = all[at]
        end
    end
    return #list - before
end

-- The text of the requests with this one, which was carried out.
local function with_request()
    local now = now_us()
    return record_request(redis.call('HGET', count, 'requests'), id, '1', now, now)
end

-- ---- Waiters

-- A waiter asks each second.
local WAITER_US = 10000000
-- Each so many waiters the dead ones are looked for.
local SWEEP_COUNT = 64

-- As docs/redis-queue.md has it: the number of receivers, or an error.
local function publish(channel, word, number)
    local command = string.sub(channel, -6) == ':shard' and 'SPUBLISH' or 'PUBLISH'
    return redis.pcall(command, channel, word .. ' ' .. number)
end

-- Tells all waiters to ask.
local function wake()
    for _, field in ipairs(redis.call('HKEYS', count)) do
        local number, channel = string.match(field, '^w (%d+) (.*)$')
        if number then
            publish(channel, 'granted', number)
            redis.call('HDEL', count, field)
        end
    end
end

local function drop_dead_waiters(now)
    for _, field in ipairs(redis.call('HKEYS', count)) do
        if string.sub(field, 1, 2) == 'w ' and tonumber(redis.call('HGET', count, field)) < now then
            redis.call('HDEL', count, field)
        end
    end
end

local function wait(number, channel)
    local now, field = now_us(), 'w ' .. number .. ' ' .. channel
    local receivers = publish(channel, 'test', number)
    if receivers == 0 or type(receivers) ~= 'number' then
        return {told_state(), receivers == 0 and 'deaf' or 'mute'}
    end
    local is_new = redis.pcall('HSET', count, field, digits(now + WAITER_US))
    if type(is_new) ~= 'number' then
        return string.find(is_new.err, 'OOM', 1, true) and {told_state(), 'full'} or is_new
    end
    if is_new == 1 and redis.call('HLEN', count) % SWEEP_COUNT == 0 then
        drop_dead_waiters(now)
    end
    return {told_state()}
end

local function drop()
    redis.call('HDEL', count, 'payload', 'claim', 'claimed')
    redis.call('DEL', members)
end

-- ---- open

-- HSET in pieces: Lua passes some thousands of arguments at most.
local function write_members(list)
    local total, at, piece = 0, 1, {}
    while at <= #list do
        local _, to, length = string.find(list, '^(%d+) ', at)
        piece[#piece + 1] = string.sub(list, to + 1, to + length)
        piece[#piece + 1] = 'l'
        total = total + 1
        at = to + length + 1
        if #piece == 2000 or at > #list then
            redis.call('HSET', members, unpack(piece))
            piece = {}
        end
    end
    return total
end

local function open()
    local ttl, list, payload = ARGV[3], ARGV[4], ARGV[5]
    local digest = redis.sha1hex(list)
    if state == 'open' or state == 'done' then
        return {redis.call('HGET', count, 'members') == digest and '0' or 'other'}
    end
    local requests = with_request()
    redis.call('DEL', count, members)
    local total = digits(write_members(list))
    redis.call('HSET', count, 'state', 'open', 'total', total, 'left', total, 'members', digest, 'requests', requests)
    if payload then
        redis.call('HSET', count, 'payload', payload)
    end
    keep(ttl)
    return {'1'}
end

-- ---- arrive

-- The payload, if the last step is to be done for this request; without a payload there is none.
local function claim(ms)
    local known = redis.call('HMGET', count, 'payload', 'claim', 'claimed')
    local now = now_us()
    if not known[1] then
        state = 'done'
        redis.call('HSET', count, 'state', state)
        wake()
        return nil
    end
    if known[2] and tonumber(known[2]) > now then
        return known[3] == id and known[1] or nil -- its own: sent again
    end
    redis.call('HSET', count, 'claim', digits(now + ms * 1000), 'claimed', id)
    return known[1]
end

local function arrive()
    local ttl, member, has_failed, ms = ARGV[3], ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
    if state ~= 'open' and state ~= 'done' then
        return {state, '0', '0', ''}
    end
    local before = redis.call('HGET', members, member)
    if not before and member_count > 0 then
        return {'stranger'}
    end
    local rest = left()
    if before == 'l' then
        redis.call('HSET', members, member, has_failed and 'f' or 'a')
        rest = redis.call('HINCRBY', count, 'left', -1)
        keep(ttl)
    elseif before == 'f' and not has_failed and rest > 0 then
        redis.call('HSET', members, member, 'a')
    end
    if rest > 0 then
        return {'open', digits(rest), '0', ''}
    end
    local payload = state == 'open' and claim(ms) or nil
    local answer = {told_state(), '0', payload and '1' or '0', payload or ''}
    add_members(answer, 'f')
    return answer
end

-- ---- The rest

local function done()
    local rest = left()
    if state == 'open' and rest == 0 then
        state = 'done'
        redis.call('HSET', count, 'state', state)
        drop()
        keep(ARGV[3])
        wake()
    end
    return {told_state(), digits(rest)}
end

local function cancel()
    if state == 'open' then
        redis.call('HSET', count, 'state', 'cancelled', 'left', '0', 'requests', with_request())
        drop()
        wake()
        return {'1'}
    end
    return {'0'}
end

local function inspect()
    local known = redis.call('HMGET', count, 'total', 'left', 'payload', 'claim')
    local claimed = known[4] and math.max(0, tonumber(known[4]) - now_us()) or 0
    local answer = {told_state(), known[1] or '0', known[2] or '0', known[3] and '1' or '0', digits(claimed), '0'}
    answer[6] = digits(add_members(answer, 'f'))
    add_members(answer, 'l')
    return answer
end

local answer = (action == 'open' or action == 'cancel') and answer_before(redis.call('HGET', count, 'requests'), id)
local function tell_state()
    return state == 'open' and ARGV[4] and wait(ARGV[3], ARGV[4]) or {told_state()}
end

local functions = {state = tell_state, open = open, arrive = arrive, done = done, cancel = cancel, inspect = inspect}
return answer and {answer} or functions[action]()
