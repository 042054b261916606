import { Admission, type AdmissionLimits } from './admission';
import type { Kind, Place } from './share';

class Crowd {
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  now = 0;
  /** What is to happen after this turn of the event loop; where nobody holds it, it does at once. */
  held: (() => void)[] | null = null;
  readonly admission: Admission;

  constructor(limits: Partial<AdmissionLimits>) {
    const all = { inWork: 6, waiting: 4, waitMs: 100, ...limits };
    const afterThisTurn = (work: () => void) => {
      if (this.held) this.held.push(work);
      else work();
    };
    this.admission = new Admission(all, () => this.now, afterThisTurn);
  }

  enter(
    tenant: string,
    name = tenant,
    { isIdle = false, kind = 'read' }: { isIdle?: boolean; kind?: Kind } = {},
  ): Place {
    return this.admission.enter(tenant, kind, {
      begin: () => this.begun.push(name),
      refuse: () => this.refused.push(name),
      isIdle,
    });
  }

  write(tenant: string, name = tenant): Place {
    return this.enter(tenant, name, { kind: 'write' });
  }

  states(...places: Place[]): string[] {
    return places.map(({ state }) => state);
  }
}

const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

describe('admission', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('lets one tenant alone have most of the places, and always another in', () => {
    const crowd = new Crowd({ inWork: 9, waiting: 10 });
    const places = times(8, () => crowd.enter('a'));
    expect(crowd.states(...places).filter((state) => state === 'in work')).toHaveLength(6);
    for (const other of ['b', 'c', 'd']) expect(crowd.enter(other).state).toBe('in work');
    expect(crowd.enter('h').state).toBe('waiting');
  });

  it('divides the places by those who asked lately, and gives them back when the others have gone', () => {
    const crowd = new Crowd({ inWork: 9, waiting: 10 });
    for (const other of ['b', 'c']) crowd.admission.leave(crowd.enter(other));
    const inWork = () => times(7, () => crowd.enter('a')).filter(({ state }) => state === 'in work');
    const some = inWork();
    expect(some).toHaveLength(3);
    crowd.now = 250;
    crowd.enter('a');
    for (const place of some) crowd.admission.leave(place);
    expect(crowd.begun).toHaveLength(5);
  });

  it('serves those who wait in turn by tenant, each in the order of arrival', () => {
    const crowd = new Crowd({ inWork: 1, waiting: 10 });
    const first = crowd.enter('a');
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    const places = new Map(names.map((name) => [name, crowd.enter(name.slice(0, 1), name)]));
    crowd.admission.leave(first);
    for (let n = 0; n < names.length; n += 1) crowd.admission.leave(places.get(crowd.begun[n]!)!);
    expect(crowd.begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('fills places that were left in the same turn together, with as many of a tenant as may', () => {
    const crowd = new Crowd({ inWork: 4, waiting: 10 });
    const places = ['a', 'b', 'a', 'b'].map((tenant) => crowd.enter(tenant));
    for (const name of ['a1', 'b1', 'a2', 'b2']) crowd.enter(name.slice(0, 1), name);
    crowd.held = [];
    for (const place of places) crowd.admission.leave(place);
    expect([crowd.enter('c').state, crowd.begun]).toEqual(['waiting', []]);
    for (const work of crowd.held) work();
    expect([crowd.held.length, crowd.begun]).toEqual([1, ['a1', 'a2', 'b1', 'b2']]);
  });

  it('sends the last of the tenant with most of them away when too many wait', () => {
    const crowd = new Crowd({ inWork: 1, waiting: 3 });
    crowd.enter('a');
    for (const name of ['a1', 'a2', 'a3']) crowd.enter('a', name);
    expect(crowd.admission.turnsAway('a', 'read')).toBe(true);
    expect(crowd.enter('a', 'a4').state).toBe('gone');
    expect(crowd.admission.turnsAway('b', 'read')).toBe(false);
    expect(crowd.enter('b', 'b1').state).toBe('waiting');
    expect(crowd.refused).toEqual(['a3']);
    expect(crowd.admission.counts).toEqual({ inWork: 1, waiting: 3, refused: 3 });
  });

  it('refuses who has waited too long', () => {
    const crowd = new Crowd({ inWork: 1 });
    crowd.enter('a');
    const waiting = crowd.enter('a', 'late');
    crowd.now = 101;
    jest.advanceTimersByTime(60);
    expect([waiting.state, crowd.refused]).toEqual(['gone', ['late']]);
    expect(crowd.admission.counts.waiting).toBe(0);
  });

  it('forgets who goes away while waiting', () => {
    const crowd = new Crowd({ inWork: 1 });
    const first = crowd.enter('a');
    const second = crowd.enter('a', 'gone');
    crowd.enter('a', 'next');
    crowd.admission.leave(second);
    crowd.admission.leave(first);
    crowd.admission.leave(first);
    expect(crowd.begun).toEqual(['next']);
    expect(crowd.admission.counts).toEqual({ inWork: 1, waiting: 0, refused: 0 });
  });

  it('gives the place of who waits for its own client to others', () => {
    const crowd = new Crowd({ inWork: 1 });
    const exporting = crowd.enter('a', 'export', { isIdle: true });
    crowd.enter('a', 'next');
    jest.advanceTimersByTime(60);
    expect(crowd.begun).toEqual(['next']);
    expect(crowd.admission.counts.inWork).toBe(2);
    crowd.admission.leave(exporting);
    expect(crowd.admission.counts.inWork).toBe(1);
  });

  it('takes in only a few writes of one tenant, which would wait for each other', () => {
    const crowd = new Crowd({ inWork: 100, waiting: 10 });
    const writes = times(4, () => crowd.write('a'));
    expect(crowd.states(...writes)).toEqual(['in work', 'in work', 'in work', 'waiting']);
    expect([crowd.enter('a').state, crowd.write('b').state]).toEqual(['in work', 'in work']);
  });

  it('keeps a place for the reads of a tenant that writes', () => {
    const crowd = new Crowd({ inWork: 4, waiting: 10 });
    crowd.admission.leave(crowd.enter('b'));
    const writes = times(2, () => crowd.write('a'));
    expect(crowd.states(...writes)).toEqual(['in work', 'waiting']);
    expect(crowd.enter('a').state).toBe('in work');
  });

  it('serves reads and writes of a tenant in the order of arrival, and reads before writes that cannot begin', () => {
    const crowd = new Crowd({ inWork: 1, waiting: 10 });
    const first = crowd.enter('a');
    const places = new Map<string, Place>();
    for (const name of ['w1', 'r1', 'r2', 'w2']) {
      crowd.now += 1;
      places.set(name, name.startsWith('w') ? crowd.write('a', name) : crowd.enter('a', name));
    }
    crowd.admission.leave(first);
    for (let n = 0; n < 4; n += 1) crowd.admission.leave(places.get(crowd.begun[n]!)!);
    expect(crowd.begun).toEqual(['w1', 'r1', 'r2', 'w2']);

    const busy = new Crowd({ inWork: 6, waiting: 10 });
    times(2, () => busy.write('a'));
    const reads = times(2, () => busy.enter('a'));
    busy.write('a', 'w');
    busy.now = 1;
    busy.enter('a', 'r');
    busy.admission.leave(reads[0]!);
    expect(busy.begun).toEqual(['r']);
  });

  it('lets nobody take the place that was just left before others of its tenant who wait for it', () => {
    const crowd = new Crowd({ inWork: 3, waiting: 10 });
    const [first] = times(2, () => crowd.enter('a'));
    crowd.write('a', 'w');
    crowd.held = [];
    crowd.admission.leave(first!);
    crowd.now = 1;
    expect(crowd.enter('a', 'r').state).toBe('waiting');
    for (const work of crowd.held) work();
    expect(crowd.begun).toEqual(['w']);
  });

  it('refuses nobody who has left while others were refused', () => {
    const crowd = new Crowd({ inWork: 1 });
    crowd.enter('a');
    const leaving: Place[] = [];
    const refuse = () => {
      for (const place of leaving) crowd.admission.leave(place);
    };
    crowd.admission.enter('b', 'read', { begin: refuse, refuse, isIdle: false });
    leaving.push(crowd.enter('b', 'left'));
    crowd.now = 90;
    crowd.enter('b', 'young');
    crowd.now = 101;
    jest.advanceTimersByTime(60);
    expect([crowd.refused, crowd.admission.counts.waiting]).toEqual([[], 1]);
  });

  it('lets writes that wait for each other not fill the room in which reads wait', () => {
    const crowd = new Crowd({ inWork: 1, waiting: 4 });
    crowd.enter('a');
    const writes = times(3, () => crowd.write('a'));
    expect(crowd.states(...writes)).toEqual(['waiting', 'waiting', 'gone']);
    expect([crowd.admission.turnsAway('a', 'write'), crowd.admission.turnsAway('a', 'read')]).toEqual([
      true,
      false,
    ]);
    expect([crowd.enter('a').state, crowd.write('b').state]).toEqual(['waiting', 'waiting']);
  });

  it('asks nobody to wait while there is room, however many wait for something else', () => {
    const crowd = new Crowd({ inWork: 12, waiting: 2 });
    for (const tenant of ['a', 'b']) times(4, () => crowd.write(tenant));
    expect(crowd.admission.counts.waiting).toBe(2);
    expect(crowd.admission.turnsAway('a', 'read')).toBe(false);
    expect(crowd.enter('a').state).toBe('in work');
  });

  it('gives places that nobody else asks for any more to who waits', () => {
    const crowd = new Crowd({ inWork: 8, waiting: 10, waitMs: 1000 });
    for (const other of ['b', 'c', 'd']) crowd.admission.leave(crowd.enter(other));
    const places = times(3, () => crowd.enter('a'));
    expect(crowd.states(...places)).toEqual(['in work', 'in work', 'waiting']);
    crowd.now = 250;
    jest.advanceTimersByTime(60);
    expect(places[2]!.state).toBe('in work');
  });

  it('never sends the next in turn away for a newcomer', () => {
    const crowd = new Crowd({ inWork: 1, waiting: 3 });
    crowd.enter('x');
    for (const tenant of ['a', 'b', 'c', 'd', 'e']) crowd.enter(tenant);
    expect(crowd.refused).toEqual(['c', 'd']);
  });
});
