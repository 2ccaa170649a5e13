-- The slots of a name: each is one of its permits.  The build puts this where a script says that it
-- uses it, and turn_to() says which slot that is at.
--   redlock:permit:<j>:<name>   slot j, from 0: as any name that a lease has exclusively
--   redlock:permits:<name>      how many slots there are: the most that a client asked for lately.
--                               While slot j is held this is there, and larger than j
-- The queue of redlock:permits:<name>, as if that were a name, is the registry: all who stand in
-- the queue of any slot.  It lasts as long as each of these queues, so where it is gone nobody waits.
-- Tokens that have been given a slot stay in it until somebody meets them.
-- No name has more slots than `slots_most`: their keys have 262,144 bytes of names at the most.
local slot, which, name, permits, slots_most

local function turn_to(key)
    slot = key
    which, name = string.match(slot, '^redlock:permit:(%d+):(.*)$')
    permits = 'redlock:permits:' .. name
    slots_most = math.min(1024, math.floor(262144 / #name))
end
