import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { hasPreloads } from './config/env';
import { isTraced } from './fast-lane/is-traced';

/**
 * All of the service and its packages in one file, where the build has made it (`npm run bundle`): to read two thousand files takes
 * longer than everything else at a start.
 */
const WHOLE = join(__dirname, 'whole', 'start.js');

// What was loaded before us hooks into packages as they are loaded, so then they are loaded one by one.
const isWhole = !hasPreloads() && !isTraced() && existsSync(WHOLE);
createRequire(__filename)(isWhole ? WHOLE : './start');
