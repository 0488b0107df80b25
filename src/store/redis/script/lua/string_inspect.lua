-- Inspection: tells who holds a lock whose key is a string, and changes nothing.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue
-- ARGV: 1 "list": the name was found by SCAN; "owner": the caller asks for the owner alone
-- Returns the owner, or as inspect.lua: nil when it is free; else 2, 1, how many wait, and of the holder its identity, the ms until its
-- hold ends, or -1, and what is recorded of it.
local lock, record, queue = KEYS[1], KEYS[2], KEYS[3]

-- include numbers.lua
-- include strings.lua
-- include identity.lua

local owner, held, token = look()
if ARGV[1] == 'owner' then
    return owner or false
end
local left = redis.call('PTTL', lock)
if not owner or left == -2 or ARGV[1] == 'list' and not held then
    return false -- a list: a peer's key may be anything
end
local waiters = redis.pcall('ZCARD', queue)
return {'2', '1', digits(type(waiters) == 'number' and waiters or 0), identity(token or owner), digits(left), held or ''}
