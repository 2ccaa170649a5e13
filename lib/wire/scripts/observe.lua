-- Returns the announcement of a name, and sends each change to a channel for some time.
-- KEYS the name   ARGV channel ('': none), ms for which it gets changes (0: no longer)
-- Returns {record, ms that it has left}, or nil without an announcement.
-- uses said.lua
-- A user that may not write (an ACL) gets the announcement all the same.
if ARGV[1] ~= '' then
    pcall(listen, ARGV[1], tonumber(ARGV[2]))
end
local record, left = said()
return record and {record, left}
