-- Inspection: returns the holders of a lock, and changes nothing.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue
-- ARGV: 1 "list": the key was found by SCAN, and may be no lock
-- Returns nil when it is free (or no lock); else {2 when the holder is a writer, 1 when they are readers, how many
-- hold, how many wait, {holder, ...}}. A holder is {its identity, the ms until its hold ends, or -1, what is recorded
-- of it, or nil}; the ones that stay longest, MOST of them at most.
local lock, record, queue = KEYS[1], KEYS[2], KEYS[3]
local MOST = 500
local kind = redis.call('TYPE', lock).ok
local listing = ARGV[1] == 'list'

-- include identity.lua

-- The companion keys may have any type, as any client can write them.
local function count_waiters()
    local count = redis.pcall('ZCARD', queue)
    return type(count) == 'number' and count or 0
end

local function recorded(holder)
    local value = redis.pcall('HGET', record, holder)
    return type(value) == 'string' and value
end

-- Is it a token as Symfony's store and ours make them?
local function is_token(member)
    return #member == 44 and string.find(member, '^[%w+/]+=$') ~= nil
end

if kind == 'none' or listing and kind ~= 'zset' then
    return false
end
if kind == 'string' then -- of Symfony's before 5.2, or Laravel's
    return {2, 1, count_waiters(), {{identity(redis.call('GET', lock)), redis.call('PTTL', lock), false}}}
end

local now = math.floor(now_us() / 1000)
local alive = string.format('(%.0f', now)
local members = redis.call('ZREVRANGEBYSCORE', lock, '+inf', alive, 'WITHSCORES', 'LIMIT', 0, MOST + 1)
local count = redis.call('ZCOUNT', lock, alive, '+inf')
local is_ours = redis.call('EXISTS', record) == 1
local mode, holders = 1, {}
for at = 1, #members, 2 do
    local member, left = members[at], tonumber(members[at + 1]) - now
    if member == '__write__' then
        mode = 2
        count = count - 1
    elseif listing and not is_ours and not is_token(member) then
        return false
    elseif #holders < MOST then
        holders[#holders + 1] = {identity(member), left, recorded(member)}
    end
end
if #members == 0 then
    return false
end
return {mode, count, count_waiters(), holders}
