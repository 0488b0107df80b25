-- Eviction: takes a lock whose key is a string away from its holder, and hands it over.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 holders' identities, as string_inspect.lua tells them, with blanks between them; or "*": whoever it is
-- Returns how many of them held it.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- include numbers.lua
-- include strings.lua
-- include queue.lua
-- include peers.lua
-- include queue_strings.lua
-- include serve.lua
-- include identity.lua

local owner, _, token = look()
if not owner or ARGV[1] ~= '*'
    and not string.find(' ' .. ARGV[1] .. ' ', ' ' .. identity(token or owner) .. ' ', 1, true) then
    return 0
end
redis.call('DEL', lock, record)
serve(now_us(), nil, true, true)
return 1
