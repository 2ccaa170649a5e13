-- Counts an arrival at a latch, stores that it is open, and tells how it stands.
-- KEYS the name   ARGV the latch's id ('': any, and nothing is stored), arrival ('': none), 1 it is
--                 open or 0, channel ('': nobody is to be told), ms for which it is told
-- Returns {0 or 1 if it is open, id, how many it waits for, ms of TIME when it ends, ms that are left
-- of that, ms for which it has been here, who has arrived, one a line}, or 0: this process was given none.
-- uses latch.lua
-- A user that may not be told (an ACL) asks.
if ARGV[4] ~= '' then
    pcall(listen, ARGV[4], tonumber(ARGV[5]))
end
local is = record()
if not is then
    return 0
end
if is.id == ARGV[1] then
    take_in(is, ARGV[2], ARGV[3])
end
return stands(is)
