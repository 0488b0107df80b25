-- Looks whether a lock whose key is a string is held, and changes nothing.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the token, as strings.lua has it
-- Returns the milliseconds that are left, -1: for ever, and 2; nil when it is not held.
local lock, record = KEYS[1], KEYS[2]

-- include numbers.lua
-- include strings.lua

local left = holds(ARGV[1]) and redis.call('PTTL', lock)
return left and (left == -1 or left > 0) and {left, 2}
