-- How a release by a token that came from another process keeps renewals of that process from healing, and
-- others from taking the lease over.  The build puts this where a script says that it uses it, behind all
-- that needs no memory.  On a full master no renewal lets in a new token either.  Such a master takes the SET
-- of a script that has called DEL, even in vain.  A release succeeds also for a user that may not do this.
if ARGV[2] then
    redis.pcall('del', 'redlock:released:' .. ARGV[1])
    redis.pcall('set', 'redlock:released:' .. ARGV[1], '', 'px', ARGV[2])
end
