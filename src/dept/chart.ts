/** An organisation as boxes and lines, from left to right. Pure: the service draws with it, and so does the console in a browser. */

/** What a box shows. */
export interface ChartDept {
  readonly deptId: number;
  readonly deptName: string;
  readonly leader: string | null;
  readonly status: string;
}

export interface ChartBox<D extends ChartDept> {
  readonly dept: D;
  readonly parent: ChartBox<D> | null;
  readonly x: number;
  /** Of its top. */
  readonly y: number;
  readonly height: number;
  readonly name: readonly string[];
  readonly leader: readonly string[];
}

export const BOX_WIDTH = 200;
export const LINE_HEIGHT = 18;
const PADDING = 8;
const COLUMN = BOX_WIDTH + 56;
const GAP = 12;
const MARGIN = 24;
const FONT_SIZE = 13;
const TEXT_WIDTH = (BOX_WIDTH - 2 * PADDING) / FONT_SIZE;
/** What a line is not broken within: a character with its marks, a flag, an emoji of several. */
const CHARACTER = /(?:\p{RI}{2}|.)(?:[\p{M}\p{Emoji_Modifier}]|\u200d.)*/gsu;
/** How wide characters are in fonts that are wide, by the size of the font; those of most other scripts fill a square. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  // A font may not have the picture that joins them.
  [/\u200d/, 5.6],
  [/^[iljtfrI .,:;'|!()[\]-]/, 0.42],
  [/^[a-ln-vx-z0-9_/]/, 0.66],
  [/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u, 1.02],
  [/^\p{Emoji_Presentation}/u, 1.4],
];
const WIDEST = 1.1;

/** Boxes of all departments that `childrenOf` leads to; those of one level stand below each other. */
export function layOut<D extends ChartDept>(
  tops: readonly D[],
  childrenOf: (dept: D) => readonly D[],
): ChartBox<D>[] {
  const boxes: ChartBox<D>[] = [];
  let free = MARGIN;
  const place = (dept: D, parent: ChartBox<D> | null, x: number): ChartBox<D> => {
    const name = linesOf(dept.deptName.trim() || `#${dept.deptId}`);
    const leader = linesOf(dept.leader ?? '');
    const height = (name.length + leader.length) * LINE_HEIGHT + 2 * PADDING;
    const box = { dept, parent, x, y: free, height, name, leader };
    boxes.push(box);
    const top = free;
    const below = childrenOf(dept).map((child) => place(child, box, x + COLUMN));
    const [first, last] = [below[0], below.at(-1)];
    if (first && last) box.y = Math.max(top, (first.y + last.y + last.height - height) / 2);
    free = Math.max(free, box.y + height + GAP);
    return box;
  };
  for (const dept of tops) place(dept, null, MARGIN);
  return boxes;
}

/** The line from a box to the one that it hangs on. */
export function lineTo({ x, y, height, parent }: ChartBox<ChartDept>): string {
  if (!parent) return '';
  const [fromX, fromY] = [parent.x + BOX_WIDTH, parent.y + parent.height / 2];
  const [toY, middle] = [y + height / 2, (fromX + x) / 2];
  return `M${fromX} ${fromY}H${middle}V${toY}H${x}`;
}

/** How much room the boxes take. */
export function sizeOf(boxes: readonly ChartBox<ChartDept>[]): {
  readonly width: number;
  readonly height: number;
} {
  const size = { width: 2 * MARGIN, height: 2 * MARGIN };
  for (const { x, y, height } of boxes) {
    size.width = Math.max(size.width, x + BOX_WIDTH + MARGIN);
    size.height = Math.max(size.height, y + height + MARGIN);
  }
  return size;
}

/** Where the lines of text of a box stand. */
export function textsOf({
  x,
  y,
  name,
  leader,
}: ChartBox<ChartDept>): { text: string; x: number; y: number; isName: boolean }[] {
  const lines = [
    ...name.map((text) => ({ text, isName: true })),
    ...leader.map((text) => ({ text, isName: false })),
  ];
  return lines.map((line, at) => ({ ...line, x: x + PADDING, y: y + PADDING + LINE_HEIGHT * (at + 0.75) }));
}

/**
 * The drawing as a file. Its colours are attributes: a service, a wiki or a mail may forbid styles. Boxes have a ground of their own, so
 * that they are read on a dark page too.
 */
export function svgOf(boxes: readonly ChartBox<ChartDept>[], title: string): string {
  const { width, height } = sizeOf(boxes);
  const drawn = boxes.map((box) => {
    const isEnabled = box.dept.status === '0';
    const ground = isEnabled ? 'fill="#fff"' : 'fill="#f6f8fa" stroke-dasharray="4"';
    const rect = `<rect x="${box.x}" y="${box.y}" width="${BOX_WIDTH}" height="${box.height}" rx="6" stroke="#8c959f" ${ground}/>`;
    const texts = textsOf(box).map(({ x, y, isName, text }) => {
      const colour = isName && isEnabled ? '#1f2328' : '#59636e';
      return `<text x="${x}" y="${y}" fill="${colour}">${escaped(text)}</text>`;
    });
    return `${rect}${texts.join('')}\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="${FONT_SIZE}">
<title>${escaped(title)}</title>
<path fill="none" stroke="#8c959f" d="${boxes.map(lineTo).join('')}"/>
${drawn.join('')}</svg>
`;
}

/** A text in lines that fit into a box; words are broken where they are longer than a line. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let [line, width] = ['', 0];
  for (const character of text.trim().match(CHARACTER) ?? []) {
    width += widthOf(character);
    if (width > TEXT_WIDTH && line !== '') {
      const end = line.lastIndexOf(' ') + 1 || line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end);
      width = (`${line}${character}`.match(CHARACTER) ?? []).reduce((sum, each) => sum + widthOf(each), 0);
    }
    line += character;
  }
  return line === '' ? lines : [...lines, line];
}

function widthOf(character: string): number {
  return WIDTHS.find(([kind]) => kind.test(character))?.[1] ?? WIDEST;
}

/** Names are text. XML allows neither control characters nor a half of a surrogate pair. */
function escaped(text: string): string {
  const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[\p{Cc}\p{Cs}\p{NChar}]/gu, '\ufffd').replace(/[&<>"]/g, (mark) => marks[mark] ?? '');
}
