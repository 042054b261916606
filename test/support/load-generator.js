const { Buffer } = require('node:buffer');
const { connect } = require('node:net');
const { performance } = require('node:perf_hooks');
const { clearInterval, setInterval } = require('node:timers');

/**
 * A process that sends requests and counts answers; the one that starts it tells it what over IPC. Bare sockets and
 * prepared bytes, so that it takes little from the machine that it measures. Closed: each connection sends the next request
 * when it has its answer. Open: requests are due at times of their own, whether or not there are answers, and an answer's time
 * counts from when its request was due; what is due before the process itself has warmed up is sent and not counted. In
 * turns: open, at one rate after the other, again and again; the answers that come within a turn are counted, but for its
 * beginning.
 */

const SUCCESS = 200;
const WARM_MS = 1500;
/** Of a turn: what was there before has to go, and what is there while it lasts to come. */
const TURN_WARM_MS = 300;

class Tally {
  constructor() {
    this.good = [];
    this.refused = [];
    this.byStatus = {};
    this.errors = 0;
    this.unsent = 0;
  }

  add(status, ms) {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    (status === SUCCESS ? this.good : this.refused).push(ms);
  }

  report() {
    const { byStatus, errors, unsent } = this;
    return { byStatus, errors, unsent, good: times(this.good), refused: times(this.refused) };
  }
}

function times(list) {
  const sorted = Float64Array.from(list).sort();
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) };
}

/** A connection with at most one request on it. */
class Line {
  constructor(place, onFree, onEnd) {
    this.job = null;
    this.onFree = onFree;
    this.pending = null;
    this.missing = 0;
    this.socket = connect(place);
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      if (this.job) this.job.tally.errors += 1;
      onEnd(this);
    });
  }

  send(job) {
    this.job = job;
    this.socket.write(job.bytes);
  }

  read(chunk) {
    if (this.missing > 0) {
      this.missing -= chunk.length;
      if (this.missing <= 0) this.done();
      return;
    }
    const whole = this.pending ? Buffer.concat([this.pending, chunk]) : chunk;
    const headEnd = whole.indexOf('\r\n\r\n');
    if (headEnd < 0) {
      this.pending = whole;
      return;
    }
    this.pending = null;
    const head = whole.toString('latin1', 0, headEnd);
    this.status = Number(head.slice(9, 12));
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    this.missing = headEnd + 4 + length - whole.length;
    if (this.missing <= 0) this.done();
  }

  done() {
    const { job } = this;
    this.missing = 0;
    this.job = null;
    job.tally.add(this.status, performance.now() - job.since);
    this.onFree(this);
  }
}

function pick(stream) {
  stream.next = (stream.next + 1) % stream.requests.length;
  return stream.requests[stream.next];
}

function closed({ place, streams, connections, seconds }) {
  return new Promise((resolve) => {
    const end = performance.now() + seconds * 1000;
    let open = connections;
    let turn = 0;
    const next = (line) => {
      if (performance.now() > end) line.socket.destroy();
      else {
        const stream = streams[(turn += 1) % streams.length];
        line.send({ bytes: pick(stream), tally: stream.tally, since: performance.now() });
      }
    };
    for (let n = 0; n < connections; n += 1) {
      const line = new Line(place, next, () => {
        open -= 1;
        if (open === 0) resolve();
      });
      next(line);
    }
  });
}

/** As many connections as are needed at once, up to so many; what is more waits here. */
class Lines {
  constructor(place, most) {
    this.place = place;
    this.most = most;
    this.count = 0;
    this.idle = [];
    this.waiting = [];
  }

  get areIdle() {
    return this.idle.length === this.count;
  }

  send(job) {
    const line = this.idle.pop();
    if (line) line.send(job);
    else if (this.count < this.most) {
      this.count += 1;
      const free = (freed) => this.free(freed);
      new Line(this.place, free, (ended) => this.forget(ended)).send(job);
    } else this.waiting.push(job);
  }

  free(line) {
    const job = this.waiting.shift();
    if (job) line.send(job);
    else this.idle.push(line);
  }

  forget(line) {
    this.count -= 1;
    const at = this.idle.indexOf(line);
    if (at >= 0) this.idle.splice(at, 1);
  }

  giveUp() {
    for (const { tally } of this.waiting) tally.unsent += 1;
    this.waiting.length = 0;
  }
}

/** Calls every millisecond, with the milliseconds since the start, until it is told that it is enough. */
function tick(isOver) {
  return new Promise((resolve) => {
    const start = performance.now();
    const timer = setInterval(() => {
      if (!isOver(performance.now() - start)) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
}

/** Waits at the end for answers that are still due, for two seconds. */
async function open({ place, streams, connections, seconds }) {
  const start = performance.now();
  const span = WARM_MS + seconds * 1000;
  const uncounted = new Tally();
  const lines = new Lines(place, connections);
  for (const stream of streams) stream.sent = 0;
  await tick((elapsed) => {
    for (const stream of streams) {
      const due = Math.floor((Math.min(elapsed, span) / 1000) * stream.rate);
      for (; stream.sent < due; stream.sent += 1) {
        const since = start + ((stream.sent + 1) * 1000) / stream.rate;
        const tally = stream.sent < (WARM_MS / 1000) * stream.rate ? uncounted : stream.tally;
        lines.send({ bytes: pick(stream), tally, since });
      }
    }
    return elapsed > span + 2000 || (elapsed > span && lines.areIdle);
  });
  lines.giveUp();
}

/** Each stream has connections of its own, so that none finds what another has left behind. */
async function turns({ place, streams, connections, seconds, rounds }) {
  for (const stream of streams) stream.lines = new Lines(place, connections);
  for (let n = 0; n < rounds; n += 1) {
    for (const stream of streams) await turn(stream, seconds * 1000);
  }
}

async function turn(stream, span) {
  const start = performance.now();
  const { rate, lines, tally } = stream;
  const within = () => {
    const elapsed = performance.now() - start;
    return elapsed >= TURN_WARM_MS && elapsed < TURN_WARM_MS + span;
  };
  const counted = { add: (status, ms) => within() && tally.add(status, ms), errors: 0, unsent: 0 };
  let sent = 0;
  await tick((elapsed) => {
    const due = Math.floor((Math.min(elapsed, TURN_WARM_MS + span) / 1000) * rate);
    for (; sent < due; sent += 1) {
      lines.send({ bytes: pick(stream), tally: counted, since: start + ((sent + 1) * 1000) / rate });
    }
    return elapsed >= TURN_WARM_MS + span;
  });
  lines.giveUp();
  tally.errors += counted.errors;
  tally.unsent += counted.unsent;
}

process.on('message', async (task) => {
  const streams = task.streams.map((stream) => ({
    ...stream,
    requests: stream.requests.map((text) => Buffer.from(text)),
    tally: new Tally(),
    next: -1,
  }));
  const begun = performance.now();
  await { closed, open, turns }[task.mode]({ ...task, streams });
  const reports = streams.map(({ name, tally }) => [name, tally.report()]);
  process.send({ seconds: (performance.now() - begun) / 1000, streams: Object.fromEntries(reports) });
  process.disconnect();
  process.exit(0);
});
