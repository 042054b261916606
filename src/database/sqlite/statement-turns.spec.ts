import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { StatementTurns } from './statement-turns';

describe('statements on the main thread', () => {
  let now: number;
  let turns: StatementTurns;
  let log: string[];

  beforeEach(() => {
    now = 1;
    log = [];
    turns = new StatementTurns();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  /** A statement that takes so long. */
  const taking = (name: string, ms: number) => () => {
    now += ms;
    log.push(name);
    return name;
  };

  /** Lets others be served so many times. */
  async function serve(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await turnOfTheLoop();
      log.push('others');
    }
  }

  it('statements run at once while their turn has time', () => {
    expect(turns.run(taking('a', 1))).toBe('a');
    expect(turns.run(taking('b', 1))).toBe('b');
  });

  it('statements run in later turns when theirs is used up, in their order, and others are served between', async () => {
    const work = ['a', 'b', 'c'].map(async (name) => turns.run(taking(name, 5)));
    await serve(3);
    expect(await Promise.all(work)).toEqual(['a', 'b', 'c']);
    expect(log).toEqual(['a', 'b', 'others', 'c', 'others', 'others']);
  });

  it('short statements share a turn', async () => {
    void turns.run(taking('long', 5));
    const short = ['a', 'b'].map(async (name) => turns.run(taking(name, 0)));
    await serve(1);
    expect(await Promise.all(short)).toEqual(['a', 'b']);
    expect(log).toEqual(['long', 'a', 'b', 'others']);
  });

  it('statements that run elsewhere have a turn for themselves when they had to wait', async () => {
    void turns.run(taking('long', 5));
    const elsewhere = turns.enter().then(taking('elsewhere', 5));
    const next = turns.run(taking('next', 0));
    await serve(2);
    await Promise.all([elsewhere, next]);
    expect(log).toEqual(['long', 'elsewhere', 'others', 'next', 'others']);
  });

  it('statements fail as they would at once', async () => {
    const failing = () => {
      throw new Error('no such table');
    };
    expect(() => turns.run(failing)).toThrow('no such table');
    void turns.run(taking('long', 5));
    await expect(turns.run(failing)).rejects.toThrow('no such table');
  });
});
