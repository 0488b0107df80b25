-- Tells who holds permits of a semaphore, and changes nothing.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times, 3 their record, 4 the queue
-- ARGV: 1 "list": the keys were found by SCAN, and may be of no semaphore
-- Returns nil when nobody holds any; else a list of texts, as inspect.lua does: 1; how many hold; how many wait; how
-- many permits they have; and for each holder its identity, the ms until its hold ends, its note and what stands before
-- it, its weight, and the limit that it has named, or 0. The ones that stay longest, MOST of them at most.
local weights, times, record, queue = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local MOST = 500
local MOST_MS = 2 ^ 53
local MOST_PERMITS = 2 ^ 53 -- a reply has no larger number that is exact
local us = now_us()

-- include identity.lua

-- The companions may be anything, as anybody can write them.
local function of_companion(command, key, ...)
    local value = redis.pcall(command, key, ...)
    return type(value) ~= 'table' and value
end

-- As anybody can write other keys, too: a number of permits, else 0.
local function permits(number)
    number = tonumber(number)
    return number and number >= 0 and number <= MOST_PERMITS and number or 0
end

local function digits(number)
    return string.format('%.0f', number)
end

-- Is it a token as Symfony's store and ours make them?
local function is_token(member)
    return #member == 44 and string.find(member, '^[%w+/]+=$') ~= nil
end

local is_listing = ARGV[1] == 'list'
if is_listing and (redis.call('TYPE', weights).ok ~= 'zset' or redis.call('TYPE', times).ok ~= 'zset') then
    return false
end

local alive = string.format('(%.0f', math.floor(us / 1000000))
local members = redis.call('ZREVRANGEBYSCORE', times, '+inf', alive, 'WITHSCORES')
local is_ours = not is_listing or redis.call('EXISTS', record) == 1
local told, count, used = {}, 0, 0
for at = 1, #members, 2 do
    local weight = redis.call('ZSCORE', weights, members[at])
    if weight and not is_ours and not is_token(members[at]) then
        return false
    end
    if weight then
        count = count + 1
        used = math.min(used + permits(weight), MOST_PERMITS)
        if count <= MOST then
            local recorded = of_companion('HGET', record, members[at])
            local limit, rest = string.match(recorded or '', '^(%d+)(.*)$')
            limit = permits(limit)
            table.insert(told, identity(members[at]))
            local left = math.ceil(members[at + 1] * 1000 - us / 1000)
            table.insert(told, digits(math.max(0, math.min(left, MOST_MS)))) -- a score may be infinite, or a fraction
            table.insert(told, limit > 0 and rest or '')
            table.insert(told, digits(permits(weight)))
            table.insert(told, digits(limit))
        end
    end
end
if count == 0 then
    return false
end
return {'1', digits(count), digits(of_companion('ZCARD', queue) or 0), digits(used), unpack(told)}
