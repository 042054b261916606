import { BOX_WIDTH, layOut, sizeOf, svgOf, textsOf, type ChartDept } from './chart';

interface Node extends ChartDept {
  readonly children: readonly Node[];
}

let ids = 0;
const node = (deptName: string, children: readonly Node[] = [], more: Partial<ChartDept> = {}): Node => ({
  ...{ deptId: (ids += 1), deptName, leader: null, status: '0', children },
  ...more,
});
const boxesOf = (...tops: Node[]) => layOut(tops, ({ children }) => children);
const linesOf = (deptName: string) => boxesOf(node(deptName))[0]!.name;

describe('the chart of departments', () => {
  it('boxes of a level stand below each other, and a parent in the middle of its children', () => {
    const leaves = [node('b'), node('c'), node('d')];
    const [a, b, c, d, e] = boxesOf(node('a', leaves), node('e')) as [Box, Box, Box, Box, Box];
    expect([b.x, c.x, d.x]).toEqual([b.x, b.x, b.x]);
    expect([a.x, e.x, b.x > a.x + BOX_WIDTH, a.y]).toEqual([a.x, a.x, true, c.y]);
    expect([b, c, d].map(({ parent }) => parent?.dept.deptName)).toEqual(['a', 'a', 'a']);
    for (const [above, below] of [
      [b, c],
      [c, d],
      [d, e],
    ] as const)
      expect(below.y).toBeGreaterThan(above.y + above.height);
    expect(sizeOf([a, b, c, d, e])).toEqual({ width: b.x + BOX_WIDTH + 24, height: e.y + e.height + 24 });
  });

  it('boxes never overlap, whatever is in them', () => {
    const tree = (depth: number): Node =>
      node(
        'name '.repeat(1 + (ids % 12)),
        depth === 0 ? [] : Array.from({ length: 1 + (ids % 3) }, () => tree(depth - 1)),
        { leader: ids % 2 ? '领导 '.repeat(ids % 20) : null },
      );
    const boxes = boxesOf(tree(5), tree(6));
    const sorted = boxes.sort((one, other) => one.x - other.x || one.y - other.y);
    for (const [at, box] of sorted.slice(1).entries()) {
      const before = sorted[at]!;
      expect(box.x > before.x || box.y > before.y + before.height).toBe(true);
    }
  });

  it('a long name is broken between words, else between characters, and nothing of it is lost', () => {
    expect(linesOf('Human Resources and Organisational Development')).toEqual([
      'Human Resources and ',
      'Organisational ',
      'Development',
    ]);
    for (const name of [
      '部'.repeat(64),
      'W'.repeat(64),
      '😀'.repeat(32),
      'Donaudampfschifffahrtsgesellschaft',
    ]) {
      expect(linesOf(name).length).toBeGreaterThan(1);
      expect(linesOf(name).join('')).toBe(name);
    }
    const family = '👩‍👩‍👧‍👦';
    expect(linesOf(family.repeat(5)).every((line) => line.replaceAll(family, '') === '')).toBe(true);
    expect(linesOf('e\u0301'.repeat(40)).every((line) => line.startsWith('e'))).toBe(true);
    expect(linesOf('🇨🇳'.repeat(20)).every((line) => line.startsWith('🇨🇳'))).toBe(true);
  });

  it('a box is as high as its lines, and shows the leader below the name', () => {
    const [box] = boxesOf(node('研发部', [], { leader: '张三' }));
    const [name, leader] = textsOf(box!);
    expect([name, leader]).toMatchObject([
      { text: '研发部', isName: true },
      { text: '张三', isName: false },
    ]);
    expect(box!.height).toBeGreaterThan(boxesOf(node('研发部', [], { leader: '' }))[0]!.height);
    expect(leader!.y).toBeLessThan(box!.y + box!.height);
  });

  it('a department without a name is drawn by its id', () => {
    expect(boxesOf(node(' ', [], { deptId: 12 }))[0]!.name).toEqual(['#12']);
  });

  it('names are text in the drawing, and it is always well-formed', () => {
    const hostile = '</text><script>alert("1")</script>&\u0000\u001b\n\ufffe\ud800';
    const svg = svgOf(boxesOf(node(hostile, [], { leader: hostile, status: '1' })), hostile);
    expect(svg).not.toMatch(/<script|[\p{Cs}\p{NChar}]|[^\P{Cc}\n]/u);
    expect(svg.isWellFormed()).toBe(true);
    expect(svg).toContain('&lt;/text&gt;');
    expect(svg.replace(/&(amp|lt|gt|quot);/g, '')).not.toContain('&');
  });

  it('the drawing of nothing is empty', () => {
    expect(svgOf([], 'x')).toContain('<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"');
  });
});

type Box = ReturnType<typeof boxesOf>[number];
