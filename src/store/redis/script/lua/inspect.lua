-- Inspection: returns the holders of a lock, and changes nothing.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue
-- ARGV: 1 "list": the key was found by SCAN, and may be no lock
-- Returns nil when it is free (or no lock); else a list of texts, as client objects have no other lists: 2 when the
-- holder is a writer, 1 when they are readers; how many hold; how many wait; and for each holder its identity, the ms
-- until its hold ends, or -1, and what is recorded of it. The ones that stay longest, MOST of them at most.
local lock, record, queue = KEYS[1], KEYS[2], KEYS[3]
local MOST = 500
local MOST_MS = 2 ^ 53 -- a score may be infinite
local kind = redis.call('TYPE', lock).ok
local listing = ARGV[1] == 'list'

-- include identity.lua

-- The companion keys may have any type, as any client can write them.
local function count_waiters()
    local count = redis.pcall('ZCARD', queue)
    return type(count) == 'number' and count or 0
end

local function digits(number)
    return string.format('%.0f', number)
end

local function recorded(holder)
    local value = redis.pcall('HGET', record, holder)
    return type(value) == 'string' and value or ''
end

-- Is it a token as Symfony's store and ours make them?
local function is_token(member)
    return #member == 44 and string.find(member, '^[%w+/]+=$') ~= nil
end

if kind == 'none' or listing and kind ~= 'zset' then
    return false
end
if kind == 'string' then -- of Symfony's before 5.2, or Laravel's
    return {'2', '1', digits(count_waiters()), identity(redis.call('GET', lock)), digits(redis.call('PTTL', lock)), ''}
end

local now = math.floor(now_us() / 1000)
local alive = string.format('(%.0f', now)
local members = redis.call('ZREVRANGEBYSCORE', lock, '+inf', alive, 'WITHSCORES', 'LIMIT', 0, MOST + 1)
local count = redis.call('ZCOUNT', lock, alive, '+inf')
local is_ours = redis.call('EXISTS', record) == 1
local mode, listed, told = '1', 0, {}
for at = 1, #members, 2 do
    local member, left = members[at], tonumber(members[at + 1]) - now
    if member == '__write__' then
        mode = '2'
        count = count - 1
    elseif listing and not is_ours and not is_token(member) then
        return false
    elseif listed < MOST then
        listed = listed + 1
        table.insert(told, identity(member))
        table.insert(told, digits(math.min(left, MOST_MS)))
        table.insert(told, recorded(member))
    end
end
if #members == 0 then
    return false
end
return {mode, digits(count), digits(count_waiters()), unpack(told)}
