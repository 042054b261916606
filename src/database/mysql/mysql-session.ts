/**
 * Of each session, whatever the server is set to. READ COMMITTED: under REPEATABLE READ a plain read before the tree's lock
 * would freeze a stale view. The lock wait is a third of a unit's time, so that a unit that did not get the lock is still
 * replayed. A server may be told to ignore the charset of clients, so it is set here once more.
 */
export const SESSION: readonly string[] = [
  'SET NAMES utf8mb4 COLLATE utf8mb4_bin',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
     innodb_lock_wait_timeout = 1, autocommit = 1, completion_type = 0, foreign_key_checks = 1, unique_checks = 1,
     sql_select_limit = 18446744073709551615, sql_safe_updates = 0, sql_big_selects = 1, sql_auto_is_null = 0`,
];
