-- Included: how a lock is held whose key is a string, its owner; and what is recorded of its holder.
--
-- A token is "NONCE OWNER", or the nonce alone, which is then the owner as well. The nonce tells the hold from others of
-- the same owner. A token without it, " OWNER", stands for any hold of that owner.
-- The record is a field of the other layout's (acquire.lua), a line break, and the token. It counts only while its
-- owner has the lock, as peers take locks, and release them, without a look at it.

-- The nonce and the owner.
local function parts_of(token)
    local blank = string.find(token, ' ', 1, true)
    if not blank then
        return token, token
    end
    return string.sub(token, 1, blank - 1), string.sub(token, blank + 1)
end

-- What is recorded of the hold, and its token; nil: nothing, the holder is a peer.
local function recorded_of(owner, kept)
    local held, token = string.match(kept or '', '^([^\n]*)\n(.*)$')
    if token and select(2, parts_of(token)) == owner then
        return held, token
    end
end

-- The lock's owner; nil: nobody has it, or it is held in another layout, of whose keys MGET tells nothing. And what is
-- recorded of the hold.
local function look()
    local owner, kept = unpack(redis.call('MGET', lock, record))
    return owner or nil, recorded_of(owner, kept)
end

-- Does the token hold the lock, and what is recorded of that? A hold without a record may be that of any token with its
-- owner.
local function holds(token)
    local nonce, owner = parts_of(token)
    local current, held, by = look()
    return current == owner and (nonce == '' or nonce == owner or by == nil or by == token), held
end
