-- Looks whether permits are held, and changes nothing.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times
-- ARGV: 1 the holder's token
-- Returns the milliseconds that are left, and 2; nil when it holds nothing.
local over = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not over or not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
    return false
end
local left = math.floor(over * 1000 - now_us() / 1000)
return left > 0 and {left, 2}
