import { createHash } from 'node:crypto';

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seeded(seed: string): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32BE(0) / 2 ** 32;
  };
}

/** `FAULTS_SEED` replays the choices of a run. */
export function faultsSeed(): string {
  const seed = process.env.FAULTS_SEED ?? String(Math.floor(Math.random() * 1e9));
  process.stderr.write(`FAULTS_SEED=${seed}\n`);
  return seed;
}
