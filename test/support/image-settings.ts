import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const DOCKERFILE = readFileSync(join(__dirname, '..', '..', 'Dockerfile'), 'utf8');

/** The settings that the image brings. */
export const imageSettings = Object.fromEntries(
  [...DOCKERFILE.matchAll(/^ENV (.*)$/gm)].flatMap(([, line]) =>
    line!.split(' ').map((pair) => pair.split(/=(.*)/).slice(0, 2)),
  ),
) as Record<string, string>;
