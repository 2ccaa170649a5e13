-- Tells what is said of a name, and has each change told to a channel for some time.
-- KEYS the name   ARGV channel ('': nobody is to be told), ms for which it is told (0: no longer)
-- Returns {record, ms that it has left}, or nil if nothing is said.
-- uses said.lua
-- A user that may not write (an ACL) is told what is said all the same.
if ARGV[1] ~= '' then
    pcall(listen, ARGV[1], tonumber(ARGV[2]))
end
local record, left = said()
return record and {record, left}
