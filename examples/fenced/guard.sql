-- One fence for all that a lock protects, however many rows and tables that is.
-- For SQLite (3.24 or later) and PostgreSQL.

-- schema
CREATE TABLE fence_guard (
    resource VARCHAR(255) PRIMARY KEY,
    fence BIGINT NOT NULL CHECK (fence BETWEEN 1 AND 9007199254740991)
);

-- claim: the first statement of every transaction of a holder, also of one that only reads.
-- 1 row: go on; newer holders wait until COMMIT.  0 rows: ROLLBACK, a newer holder has been here.
INSERT INTO fence_guard (resource, fence) VALUES (:resource, :fence)
    ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence
    WHERE fence_guard.fence <= excluded.fence;
