import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longestGap } from '../faults/support/node-faults';

const FOLDER = join(__dirname, '..', '..', 'deploy', 'galera');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

describe('the health check of deploy/galera', () => {
  const proxy = read('haproxy.cfg.template');
  const sent = [...proxy.matchAll(/^ +tcp-check send-binary ([0-9a-f]+)$/gm)].map((found) =>
    Buffer.from(found[1]!, 'hex'),
  );
  const question = /tcp-check send "([^"]+)"/.exec(proxy)![1]!;

  it('the health check signs in as somebody without a password, and ends in good order', () => {
    const [login, , quit] = sent;
    expect([login!.readUIntLE(0, 3), login![3]]).toEqual([login!.length - 4, 1]);
    // After capabilities, packet size, character set and 23 empty bytes: the name, and no password.
    expect(login!.subarray(36).toString('latin1')).toBe('haproxy\0\0');
    expect([...quit!]).toEqual([1, 0, 0, 0, 1]);
  });

  it('the health check announces a question of the length that it has', () => {
    const head = sent[1]!;
    expect([head.readUIntLE(0, 3), head[3], head[4]]).toEqual([question.length + 1, 0, 3]);
  });

  it('the health check asks for a majority, for everything, and for a node that takes statements; anything less is unfit', () => {
    for (const [name, value] of [
      ['WSREP_CLUSTER_STATUS', 'Primary'],
      ['WSREP_LOCAL_STATE', '4'],
      ['WSREP_READY', 'ON'],
    ])
      expect(question).toContain(`(VARIABLE_NAME='${name}' AND VARIABLE_VALUE='${value}')`);
    expect(question).toMatch(/^SELECT IF\(COUNT\(\*\)=3,'node-is-fit','unfit'\) AS s /);
  });

  it('the health check gets rid of a silent node well within five seconds', () => {
    const ms = (name: string) => Number(new RegExp(`\\b${name} (\\d+)ms`).exec(proxy)![1]);
    const fall = Number(/\bfall (\d+)/.exec(proxy)![1]);
    expect(ms('inter') + fall * ms('check') + (fall - 1) * ms('fastinter')).toBeLessThanOrEqual(2000);
    expect(read('node.cnf.template')).toContain('evs.inactive_timeout=PT3S');
  });
});

describe('deploy/galera/cluster', () => {
  it('the cluster script has no mistakes of syntax, and fills in every place of its templates', () => {
    execFileSync('bash', ['-n', join(FOLDER, 'cluster')]);
    const script = read('cluster');
    for (const template of ['node.cnf.template', 'haproxy.cfg.template'])
      for (const [, name] of read(template).matchAll(/@([A-Z0-9_]+)@/g))
        expect(script).toMatch(new RegExp(`\\b${name}=`));
  });
});

describe('longestGap', () => {
  it('finds the longest stretch without a moment, its ends included', () => {
    expect(longestGap([], 10, 30)).toEqual({ gap: 20, at: 10 });
    expect(longestGap([25, 12, 99], 10, 30)).toEqual({ gap: 13, at: 12 });
    expect(longestGap([11, 12], 10, 30)).toEqual({ gap: 18, at: 12 });
  });
});
