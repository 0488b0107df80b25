-- Included after numbers.lua, behind key_times.lua: how a lock is held whose key is a string, its owner; and
-- what is recorded of its holder.
--
-- A token is "NONCE OWNER", or the nonce alone, which is then the owner as well. The nonce tells the hold from others of
-- the same owner. A token without it, " OWNER", stands for any hold of that owner.
-- The record is "LENGTH TOKEN" and behind it what holder_record.lua writes, or '' until the holder claims what it was
-- granted. It counts only while its owner has the lock: peers take locks, and release them, without a look at it.

-- Life of the record of a hold without an end. Without a record the holder is taken for a peer.
local RECORD_MS = 604800000

-- The nonce and the owner.
local function parts_of(token)
    local blank = string.find(token, ' ', 1, true)
    if not blank then
        return token, token
    end
    return string.sub(token, 1, blank - 1), string.sub(token, blank + 1)
end

-- The lock's owner; nil: nobody has it, or it is held in another layout, of whose keys MGET tells nothing. What is
-- recorded of the hold, and its token; nil: nothing, the holder is a peer.
local function look()
    local owner, kept = unpack(redis.call('MGET', lock, record))
    local size, at = string.match(kept or '', '^(%d+) ()')
    local token = owner and size and string.sub(kept, at, at + size - 1)
    if token and select(2, parts_of(token)) == owner then
        return owner, string.sub(kept, at + size), token
    end
    return owner or nil
end

-- Does the token hold the lock, and what is recorded of that? A hold without a record may be that of any token with its
-- owner.
local function holds(token)
    local nonce, owner = parts_of(token)
    local current, held, by = look()
    return current == owner and (nonce == '' or nonce == owner or by == nil or by == token), held
end

-- Makes the token's owner the holder. `held` is recorded behind the token: '' until it claims.
local function hold(token, ttl, held)
    set_for(ttl, lock, select(2, parts_of(token)))
    set_for(ttl == '0' and RECORD_MS or ttl, record, #token .. ' ' .. token .. held)
end
