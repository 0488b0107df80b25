-- Included after numbers.lua, behind key_times.lua: how a lock is held whose key is a string, its owner; and what is recorded of its holder.
--
-- A token is "NONCE OWNER", or the nonce alone, which is then the owner as well. The nonce tells the hold from others of
-- the same owner. A token without it, " OWNER", stands for any hold of that owner.
-- The record is "LENGTH TOKEN" and behind it what holder_record.lua writes, or '' until the holder claims what it was
-- granted. It counts only while its owner has the lock: peers take locks, and release them, without a look at it.

-- Life of the record of a hold without an end. Without a record the holder is taken for a peer.
local RECORD_MS = 604800000

local function parts_of(token)
    local blank = string.find(token, ' ', 1, true)
    if not blank then
        return token, token
    end
    return string.sub(token, 1, blank - 1), string.sub(token, blank + 1)
end

-- The lock's owner; nil: nobody has it; true: it is held in another layout.
local function current_owner()
    local owner = redis.pcall('GET', lock)
    if type(owner) == 'table' then
        return redis.call('TYPE', lock).ok ~= 'string' or redis.call('GET', lock) -- WRONGTYPE, or the error once more
    end
    return owner or nil
end

-- What is recorded of the owner's hold, and its token; nil: nothing, its holder is a peer.
local function recorded(owner)
    local value = redis.call('GET', record) or ''
    local size, at = string.match(value, '^(%d+) ()')
    if not size then
        return nil
    end
    local token = string.sub(value, at, at + size - 1)
    if select(2, parts_of(token)) == owner then
        return string.sub(value, at + size), token
    end
end

-- Does the token hold the lock? A hold without a record may be that of any token with its owner.
local function holds(token)
    local nonce, owner = parts_of(token)
    if current_owner() ~= owner then
        return false
    end
    if nonce == '' or nonce == owner then
        return true
    end
    local _, by = recorded(owner)
    return by == nil or by == token
end

-- Makes the token's owner the holder. `held` is recorded behind the token: '' until it claims.
local function hold(token, ttl, held)
    set_for(ttl, lock, select(2, parts_of(token)))
    set_for(ttl == '0' and RECORD_MS or ttl, record, #token .. ' ' .. token .. held)
end
