-- Counts an arrival at a latch, stores that it is open, and returns its state.
-- KEYS the name   ARGV the latch's id ('': any, and nothing is stored), arrival ('': none), 1 it is
--                 open or 0, channel ('': none), ms for which the channel gets changes
-- Returns 0 if this process got none, else
--
--     {1 if it is open else 0, id, number that it waits for, end in ms of TIME, ms until then, ms for
--      which it has been here, names of the arrivals, one a line}
--
-- uses latch.lua
-- A user that may not subscribe (an ACL) asks.
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
