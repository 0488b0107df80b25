-- Renews a hold on a lock whose key is a string.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the token, as strings.lua has it, 2 the TTL in ms, 0: for ever, 3 'extend': not to an earlier end than it has,
--       and no grant that was not claimed, of which the renewal knows nothing
-- Returns 2, or 0 when it is not held.
local lock, record = KEYS[1], KEYS[2]
local token, ttl, extends = ARGV[1], ARGV[2], ARGV[3]
local us = now_us()

-- include numbers.lua
-- include record_ms.lua
-- include strings.lua

local is_held, held = holds(token)
if not is_held then
    return 0
end
local expiry = ttl ~= '0' and expiry_after(us, ttl)
if extends then
    if held == '' then
        return 0
    end
    local left = redis.call('PTTL', lock)
    if left == -1 or expiry and us / 1000 + left >= tonumber(expiry) then
        return 2
    end
end
if expiry then
    redis.call('PEXPIREAT', lock, expiry)
    redis.call('PEXPIREAT', record, expiry)
else
    redis.call('PERSIST', lock)
    redis.call('PEXPIRE', record, RECORD_MS)
end
return 2
