import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

const run = promisify(execFile);
const read = (file: string) => readFileSync(join(__dirname, '..', '..', file), 'utf8');
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((match) => match[1]!);

/** Between the output of one block and that of the next. */
const END = '---- end of block ----';

describe('the shell examples', () => {
  let service: ServiceUnderTest;

  beforeEach(async () => {
    service = await ServiceUnderTest.start();
  });
  afterEach(() => service.stop());

  /**
   * Runs the blocks as one reader would, from the top down in one shell on one database; gives what each printed. Only `npm run
   * token` is stood in for, and the password is that of this service.
   */
  async function runAll(examples: string[]): Promise<string[]> {
    const npm = `npm() { printf %s '${mintToken({ roles: ['superadmin'] })}'; }`;
    const script = [npm, ...examples.flatMap((example) => [example, `echo '${END}'`])].join('\n');
    const here = script
      .replaceAll('http://127.0.0.1:3000', service.anonymous.baseUrl)
      .replaceAll('PASSWORD', 'admin-password');
    const { stdout } = await run('sh', ['-ec', here], { cwd: service.database.folder });
    return stdout.split(`${END}\n`).slice(0, -1);
  }
  const codesIn = (output: string) => [...output.matchAll(/"code":(\d+)/g)].map((match) => Number(match[1]));

  it('the shell examples of README work, and the last is refused as it shows', async () => {
    const readme = read('README.md');
    const [output] = await runAll(blocks(readme, 'sh').filter((block) => block.includes('curl')));
    expect(codesIn(output!)).toEqual([200, 200, 200, 200, 409]);
    const shown = blocks(readme, 'json')[0]!.trim();
    const [before, after] = shown.split('…');
    expect(output).toContain(before);
    expect(output!.trim().endsWith(after!)).toBe(true);
  });

  it('the shell examples of the API guide work from the top down, on an empty database', async () => {
    const examples = blocks(read('docs/api.md'), 'sh');
    const outputs = await runAll(examples);
    expect(outputs.map(codesIn)).toEqual([
      [200],
      [200, 200, 200],
      [],
      [200],
      [200, 200],
      [200, 200],
      [200, 200],
      [200, 200, 200, 409, 200, 200, 200],
      [200],
      [200],
      [200, 200, 412],
      [200, 200],
      [200, 200],
      [200],
      [200, 200],
      [200],
      [200, 200],
      [200],
      [200],
      [200, 200],
    ]);
    expect(readFileSync(join(service.database.folder, 'organisation.svg'), 'utf8')).toContain('<svg ');
    const all = outputs.join('');
    for (const header of ['Location: /system/dept-api/1', 'ETag: "1"', 'Idempotent-Replayed: true']) {
      expect(examples.join('')).toContain(`# ${header}`);
      expect(all).toContain(header);
    }
    expect(all).toContain('"reason":"STALE"');
    const spending = outputs.find((output) => output.includes('"reason":"QUOTA_EXCEEDED"'));
    const left = [...spending!.split('"rows"')[0]!.matchAll(/"available":(\d+)/g)].map((match) => match[1]);
    expect(left).toEqual(['492', '495', '495', '494', '494']);
  });
});
