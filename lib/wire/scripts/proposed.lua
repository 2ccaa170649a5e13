-- The logical clock moves on for a grant with a fence: up to the proposal, which the window of ARGV[4]
-- cuts.  The build puts this where a script says that it uses it.
h = h + 1
if proposal > h then
    local time = redis.call('time')
    h = math.max(h, math.min(proposal, time[1] * 1000000 + time[2] + tonumber(ARGV[4])))
end
move_on(h)
