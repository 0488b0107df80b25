-- The newest version of a resource.
--
-- KEYS: 1 what is known of it: a hash
-- ARGV: 1 the request's identity, 2 the function; "advance": 3 the TTL in ms, 4 a version, 5 "1" if the same
--       version may come again; "revert": 3 the TTL, 4 a version; "outdated": 3 a version; "get"
-- Returns {"1"} or {"0"}; {"mixed", NEWEST} if only one of both versions is a number; of "get": {NEWEST} or {}.
--
-- Fields: v, the newest version. before: the one before it; "" if there was none; absent if that is not known.
-- again: a version that may come once more, as it has failed. requests: those that have changed something.
local key = KEYS[1]
local id, action = ARGV[1], ARGV[2]
local version = action == 'outdated' and ARGV[3] or ARGV[4]
local known = redis.call('HMGET', key, 'v', 'before', 'again', 'requests')
local newest, before, again, requests = known[1], known[2], known[3], known[4]

local function is_number(text)
    return string.find(text, '^%-?[0-9]+$') ~= nil
end

-- Lua's own "<" goes by the locale of the server, and a number in Lua has 53 bits.
local function compare_bytes(one, other)
    for at = 1, math.min(#one, #other) do
        local order = string.byte(one, at) - string.byte(other, at)
        if order ~= 0 then
            return order
        end
    end
    return #one - #other
end

local function compare(one, other)
    if not is_number(one) then
        return compare_bytes(one, other)
    end
    local is_negative = string.sub(one, 1, 1) == '-'
    if is_negative ~= (string.sub(other, 1, 1) == '-') then
        return is_negative and -1 or 1
    end
    local order = #one - #other
    if order == 0 then
        order = compare_bytes(one, other)
    end
    return is_negative and -order or order
end

local function keep(ttl)
    if redis.call('PTTL', key) < tonumber(ttl) then
        redis.call('PEXPIRE', key, ttl)
    end
end

-- Sets fields, and records the request with its answer.
local function set(answer, ...)
    local now = now_us()
    redis.call('HSET', key, 'requests', record_request(requests, id, answer, now, now), ...)
    keep(ARGV[3])
end

if action == 'get' then
    return newest and {newest} or {}
end
local answer = answer_before(requests, id)
if answer then
    return {answer}
end
if newest and is_number(newest) ~= is_number(version) then
    return {'mixed', newest}
end
local order = newest and compare(version, newest) or 1

if action == 'outdated' then
    return {order < 0 and '1' or '0'}
end

if action == 'revert' then
    if newest and order == 0 then
        if not before then
            set('1', 'again', version)
        elseif before == '' then
            set('1')
            redis.call('HDEL', key, 'v', 'before')
        else
            set('1', 'v', before)
            redis.call('HDEL', key, 'before')
        end
        return {'1'}
    end
    if newest and before == version then
        set('0', 'again', version)
    end
    return {'0'}
end

local is_repetition = again and again == version
if order < 0 or order == 0 and ARGV[5] ~= '1' and not is_repetition then
    return {'0'}
end
if is_repetition then
    set('1', 'v', version)
    redis.call('HDEL', key, 'before', 'again')
else
    set('1', 'v', version, 'before', newest or '')
    if again and again ~= newest then
        redis.call('HDEL', key, 'again')
    end
end
return {'1'}
