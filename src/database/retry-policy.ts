import { QueryFailedError } from 'typeorm';
import { backoff, type Backoff } from '../concurrency/retry';

/**
 * What a database error says about the unit of work it ended.
 * - `conflict`: not committed; another unit won, replay soon
 * - `busy`: not begun; another process is writing to the SQLite file
 * - `unreachable`: not committed; the server or this connection is away for a moment, replay later
 * - `lost`: the connection broke; not committed if COMMIT was not yet sent, unknown if it was
 * - `crowded`: not begun; it has been waited for long enough, or there is nothing to wait for
 * - `fatal`: replaying gives the same again
 */
export type Fault = 'conflict' | 'busy' | 'unreachable' | 'lost' | 'crowded' | 'fatal';

/** The code of an error of our own: there was no connection. */
export const NO_CONNECTION = 'TENANTRY_NO_CONNECTION';
/** Another: a connection was given up, because it could not use its prepared statements any more. */
export const UNPREPARED_IN_TRANSACTION = 'TENANTRY_UNPREPARED';

/**
 * The account is refused, as for a while when its password is changed: also where it is locked, its password has expired, or by
 * this database or host.
 */
const ACCESS_DENIED = [...[1045, 1044, 1130, 1698, 1820, 1862, 3118, 4151], ...['28000', '28P01']];
/** MySQL's and PostgreSQL's; SQLite has one writer at a time, which sees what the one before it wrote. */
const DUPLICATE_KEYS = [1062, '23505'];

type Key = number | string;

/** By the number, code or message of the error. The codes of five characters are PostgreSQL's. */
const FAULTS = new Map<Key | undefined, Fault>([
  ...ACCESS_DENIED.map((key) => [key, 'unreachable'] as const),
  [1213, 'conflict'], // deadlock; on Galera also a failed certification
  [1205, 'conflict'], // lock wait timeout
  [3101, 'conflict'], // rolled back at COMMIT: another member of a Group Replication was first
  [1040, 'unreachable'], // too many connections
  [1203, 'unreachable'], // too many connections of this user
  [1226, 'unreachable'], // the same, or another limit of the account
  [1129, 'unreachable'], // this host is blocked after too many broken connections
  [1047, 'unreachable'], // a Galera node without quorum
  [1053, 'unreachable'], // server shutdown
  [1927, 'unreachable'], // connection killed
  [1290, 'unreachable'], // read-only: a replica, or a primary that is being relieved
  [1836, 'unreachable'], // the same, in MySQL
  [1792, 'unreachable'], // the same, of transactions
  [1317, 'unreachable'], // the statement was cancelled
  [3032, 'unreachable'], // MySQL's offline mode
  [1969, 'unreachable'], // it took longer than the server allows
  [3024, 'unreachable'], // the same, in MySQL
  ['40001', 'conflict'], // serialization failure
  ['40P01', 'conflict'], // deadlock
  ['55P03', 'conflict'], // lock wait timeout
  ['53300', 'unreachable'], // too many connections
  ['57P03', 'unreachable'], // starting up, or shutting down
  ['25006', 'unreachable'], // read-only: a standby
  ['57014', 'unreachable'], // the statement was cancelled, or took longer than the server allows
  ['08001', 'unreachable'],
  ['08004', 'unreachable'],
  ['timeout expired', 'unreachable'], // pg's, before a connection came about
  ['Connection terminated due to connection timeout', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENOTFOUND', 'unreachable'],
  ['EAI_AGAIN', 'unreachable'],
  ['HANDSHAKE_SSL_ERROR', 'unreachable'], // no TLS connection came about
  ['CERT_HAS_EXPIRED', 'unreachable'], // these, too: pg passes on what Node says
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unreachable'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unreachable'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unreachable'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'unreachable'],
  ['The server does not support SSL connections', 'unreachable'],
  ['There was an error establishing an SSL connection', 'unreachable'],
  [NO_CONNECTION, 'crowded'],
  ['timeout exceeded when trying to connect', 'crowded'], // all connections of pg's pool are in use
  [UNPREPARED_IN_TRANSACTION, 'lost'],
  [1180, 'lost'], // error during COMMIT
  [1021, 'lost'], // the disk is full; at COMMIT the outcome is unknown
  [1114, 'lost'], // the same, in the words of InnoDB
  [2006, 'lost'],
  [2013, 'lost'],
  [4031, 'lost'], // the server closed an idle connection
  ['57P01', 'lost'], // the server ended this connection: shutdown, or pg_terminate_backend
  ['57P02', 'lost'], // another backend crashed
  ['57P05', 'lost'], // the server closed an idle connection
  ['25P03', 'lost'], // the same, in a transaction
  ['53100', 'lost'], // the disk is full; at COMMIT the outcome is unknown
  ['58030', 'lost'], // the disk fails
  ['08003', 'lost'],
  ['08006', 'lost'],
  ['08007', 'lost'], // the outcome of COMMIT is unknown
  ['Query read timeout', 'lost'], // pg's own limit, of a host's choice; the server may go on
  ['Connection terminated', 'lost'],
  ['Connection terminated unexpectedly', 'lost'],
  ['Client has encountered a connection error and is not queryable', 'lost'],
  ['Client was closed and is not queryable', 'lost'],
  ['Query runner already released. Cannot run queries anymore.', 'lost'], // TypeORM's, once pg has lost the connection
  ['PROTOCOL_CONNECTION_LOST', 'lost'],
  ['ECONNRESET', 'lost'],
  ['EPIPE', 'lost'],
  ['ERR_STREAM_DESTROYED', 'lost'], // closed for its silence in the very moment of a statement
  ['ERR_STREAM_WRITE_AFTER_END', 'lost'], // the server refused the settings of the session
  ['ETIMEDOUT', 'lost'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'lost'],
  ['SQLITE_5', 'busy'],
  ['SQLITE_8', 'unreachable'], // the file cannot be written, or is not in its place
  ['SQLITE_10', 'lost'], // the disk fails
  ['SQLITE_13', 'lost'], // the disk is full
]);

interface DriverError {
  readonly errno?: Key;
  readonly code?: Key;
  readonly message?: string;
  readonly errcode?: unknown;
}

export function faultOf(error: unknown): Fault {
  const { errno, code, message, errcode } = driverError(error);
  // SQLite's extended codes have the plain one in their lowest byte.
  const sqlite = typeof errcode === 'number' ? `SQLITE_${errcode & 0xff}` : undefined;
  const known = [errno, code, message, sqlite].map((key) => FAULTS.get(key)).find(Boolean);
  if (known) return known;
  // mysql2 names no code when it is asked to use a connection that it has already lost.
  return String(message).includes('connection is in closed state') ? 'lost' : 'fatal';
}

export function isDuplicate(error: unknown): boolean {
  return isOneOf(DUPLICATE_KEYS, error);
}

export function isAccessDenied(error: unknown): boolean {
  return isOneOf(ACCESS_DENIED, error);
}

function isOneOf(keys: readonly Key[], error: unknown): boolean {
  const { errno, code = '' } = driverError(error);
  return keys.includes(errno ?? code);
}

function driverError(error: unknown): DriverError {
  return ((error instanceof QueryFailedError ? error.driverError : error) ?? {}) as DriverError;
}

interface Pace extends Backoff {
  readonly tries: number;
}

const PACES: Readonly<Record<Exclude<Fault, 'fatal'>, Pace>> = {
  conflict: { first: 3, most: 200, tries: 12 },
  busy: { first: 2, most: 50, tries: Infinity },
  unreachable: { first: 50, most: 1000, tries: 12 },
  lost: { first: 50, most: 1000, tries: 12 },
  crowded: { first: 0, most: 0, tries: 1 },
};
/** All that a unit may take, its waits included. */
export const BUDGET_MS = 3000;

/** Counts the tries of one unit of work and says how long to wait before the next, or that there is none. */
export class RetryBudget {
  #tries = 0;
  readonly #end: number;

  constructor(private readonly now: () => number = Date.now) {
    this.#end = now() + BUDGET_MS;
  }

  get left(): number {
    return Math.max(0, this.#end - this.now());
  }

  get isSpent(): boolean {
    return this.left === 0;
  }

  next(fault: Exclude<Fault, 'fatal'>): number | null {
    const pace = PACES[fault];
    this.#tries += 1;
    if (this.#tries >= pace.tries) return null;
    const wait = backoff(this.#tries, pace);
    return this.now() + wait > this.#end ? null : wait;
  }
}
