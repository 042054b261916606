import { runInThisContext } from 'node:vm';

/** Runs `work` in a process whose `TZ` is this. In Jest `process` is a copy: Node looks at the one, mysql2 at the other. */
export async function inTimeZone<T>(zone: string, work: () => Promise<T>): Promise<T> {
  const { env } = runInThisContext('process') as NodeJS.Process;
  const before = env.TZ;
  const set = (value: string | undefined) => {
    for (const each of [env, process.env]) {
      if (value === undefined) delete each.TZ;
      else each.TZ = value;
    }
  };
  set(zone);
  try {
    return await work();
  } finally {
    set(before);
  }
}
