-- One fence in each row: for locks that protect one row each.
-- For SQLite (3.35 or later) and PostgreSQL.  Every statement says by its number of rows whether
-- it was accepted: 1 yes, 0 a newer holder has been here (or there is no such row).

-- schema
CREATE TABLE account (
    id BIGINT PRIMARY KEY,
    balance BIGINT NOT NULL,
    -- 1: written by no holder yet.  0, the fence of a lease that has none, is never let in.
    fence BIGINT NOT NULL DEFAULT 1 CHECK (fence BETWEEN 1 AND 9007199254740991)
);

-- claim: first, if what is written depends on what is read; older holders are out from here on
UPDATE account SET fence = :fence
    WHERE id = :id AND fence <= :fence
    RETURNING balance;

-- write: as often as the holder likes; with <=, since all its writes have the same fence
UPDATE account SET balance = :balance, fence = :fence
    WHERE id = :id AND fence <= :fence;

-- write, once: at most one for each lease; with <, so that sending it again does nothing
UPDATE account SET balance = balance + :amount, fence = :fence
    WHERE id = :id AND fence < :fence;

-- first write: where the row may not be there yet
INSERT INTO account (id, balance, fence) VALUES (:id, :balance, :fence)
    ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, fence = excluded.fence
    WHERE account.fence <= excluded.fence;
