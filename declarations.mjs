/**
 * Lets hosts on Nest 12 compile with `module: node16`. That Nest is published as ES modules only, which TypeScript allows a CommonJS
 * package like this one to import types of, if its declarations say so.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DIST = join(import.meta.dirname, 'dist');
const STATEMENT = /^import (?:type )?(.+) from '(@nestjs\/[^']+)';$/gm;
const INLINE = /import\("(@nestjs\/[^"]+)"\)/g;

for (const path of readdirSync(DIST, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
  const file = join(DIST, path);
  const before = readFileSync(file, 'utf8');
  const after = before
    .replace(STATEMENT, (_, names, from) => {
      const types = names.replace(/\btype /g, '');
      return `import type ${types} from '${from}' with { 'resolution-mode': 'import' };`;
    })
    .replace(INLINE, 'import("$1", { with: { "resolution-mode": "import" } })');
  if (after !== before) writeFileSync(file, after);
}
