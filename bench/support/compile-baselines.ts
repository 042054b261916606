import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

const FROM = join(__dirname, '..', 'baselines');
/** Inside node_modules, so that they find their packages. */
const TO = join(__dirname, '..', '..', 'node_modules', '.cache', 'tenantry-bench');

let isDone = false;

/** Baselines run as plain JavaScript, as the service does: a loader would make their start slower. Gives their folder. */
export function compileBaselines(): string {
  if (isDone) return TO;
  mkdirSync(TO, { recursive: true });
  const compilerOptions = {
    module: ModuleKind.CommonJS,
    target: ScriptTarget.ES2023,
    esModuleInterop: true,
    experimentalDecorators: true,
  };
  for (const file of readdirSync(FROM)) {
    const { outputText } = transpileModule(readFileSync(join(FROM, file), 'utf8'), { compilerOptions });
    writeFileSync(join(TO, file.replace(/\.ts$/, '.js')), outputText);
  }
  isDone = true;
  return TO;
}
