import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

const FROM = join(__dirname, '..', 'baselines');
/** Inside node_modules, so that they find their packages. */
const TO = join(__dirname, '..', '..', 'node_modules', '.cache', 'tenantry-bench');
const COMPILER_OPTIONS = {
  module: ModuleKind.CommonJS,
  target: ScriptTarget.ES2023,
  esModuleInterop: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  useDefineForClassFields: false,
};

/** Baselines run as plain JavaScript, as the service does. Gives their folder. */
export function compileBaselines(): string {
  for (const file of readdirSync(FROM, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(join(FROM, file), 'utf8');
    const target = join(TO, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transpileModule(source, { compilerOptions: COMPILER_OPTIONS }).outputText);
  }
  return TO;
}
