-- Takes a lock exclusively, or renews it for its writer, or promotes its only reader.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 the database's fencing counter
-- ARGV: 1 the holder's token, 2 the TTL in ms
-- Returns the fencing token, or nil when somebody else holds the lock.
--
-- The lock is Symfony's sorted set: a member for each holder, and "__write__" while it is a writer,
-- with the time in ms at which each expires. A string is a lock of Symfony's before 5.2, or Laravel's.
local lock, record, counter = KEYS[1], KEYS[2], KEYS[3]
local token, ttl = ARGV[1], ARGV[2]
local us = now_us()
local kind = redis.call('TYPE', lock).ok
local fencing

if kind == 'string' then
    return false
end
if kind ~= 'none' then
    redis.call('ZREMRANGEBYSCORE', lock, '-inf', math.floor(us / 1000))
    if redis.call('ZSCORE', lock, token) then
        if redis.call('ZSCORE', lock, '__write__') then
            local known = redis.call('GET', record)
            if known and string.sub(known, 1, #token + 1) == token .. ' ' then
                fencing = string.sub(known, #token + 2)
            end
        elseif redis.call('ZCARD', lock) > 1 then
            return false
        end
    elseif redis.call('ZCARD', lock) > 0 then
        return false
    end
end

if not fencing then
    local last = tonumber(redis.call('GET', counter) or 0) or 0
    -- tostring() would write 1.79e15
    fencing = string.format('%.0f', math.max(last + 1, us))
    redis.call('SET', counter, fencing)
end
-- Rounded up: the holder counts its TTL from when it sent this.
local expiry = string.format('%.0f', math.ceil(us / 1000) + ttl)
redis.call('SET', record, token .. ' ' .. fencing, 'PX', ttl)
redis.call('ZADD', lock, expiry, token, expiry, '__write__')
redis.call('PEXPIREAT', lock, expiry)
return fencing
