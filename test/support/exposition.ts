const SAMPLE = /^([a-z0-9_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.e+-]+|\+Inf|Nan)$/;

/** Reads Prometheus' text format as strictly as it is meant: each name declared once, before its samples, none twice. */
export function readExposition(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const samples = new Map<string, number>();
  const kinds = new Map<string, string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const [, declared, kind] = /^# TYPE ([a-z0-9_]+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (declared !== undefined && kinds.has(declared)) throw new Error(`Declared twice: ${line}`);
    if (declared !== undefined) kinds.set(declared, kind!);
    if (declared !== undefined || line.startsWith('# HELP ') || line === '') continue;
    const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? [];
    const family = kinds.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!kinds.has(family)) throw new Error(`Not a sample of anything: ${line}`);
    if (family !== name && kinds.get(family) !== 'histogram') throw new Error(`No histogram: ${line}`);
    const key = labels === '' ? name : `${name}{${labels}}`;
    if (samples.has(key)) throw new Error(`Twice: ${line}`);
    samples.set(key, Number(value));
  }
  return samples;
}
