-- As let_go.lua, behind string_release.lua. Without a record that is the token's, the owner's hold may be another one by now.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the token, as strings.lua has it
local token, owner = ARGV[1], string.match(ARGV[1], ' (.*)')
if redis.call('GET', KEYS[1]) == (owner or token)
    and (not owner or string.sub(redis.call('GET', KEYS[2]) or '', -#token - 1) == '\n' .. token) then
    redis.call('DEL', KEYS[1], KEYS[2])
end
