-- Included: life of the record of a hold without an end, of a lock that is a string. Behind that the holder is taken
-- for a peer.
local RECORD_MS = 604800000
