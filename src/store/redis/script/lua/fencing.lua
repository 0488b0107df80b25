-- Included where a new holder gets its fencing token, in `fencing`: the time, `now` as digits and `us`; or one more
-- than the last token, if the clock was set back. Neither a counter that was lost nor one that lags behind, on a server
-- that was a replica, gives a token twice.
-- The first thing that is written needs memory: what has changed something goes on when that is short.
fencing = now
local last = redis.call('GETSET', counter, now)
if last and (#last ~= #now or last >= now) then
    last = tonumber(last) or 0
    if last >= us then
        fencing = string.format('%.0f', last + 1)
        redis.call('SET', counter, fencing)
    end
end
