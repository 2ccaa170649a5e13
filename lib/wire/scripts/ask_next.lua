-- On to the ttl, the proposal and the token (`at`) of the next grant: all may follow from the first one's.
-- The build puts this where a script says that it uses it.
if alike then
    at, proposal = at + 1, proposal + step
else
    ttl, proposal, at = ARGV[at + 1], tonumber(ARGV[at + 2]), at + 3
end
