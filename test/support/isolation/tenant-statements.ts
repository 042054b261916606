/** A piece of SQL: a word, a value, a sign; or what stands between two parentheses. */
interface Token {
  readonly kind: 'word' | 'name' | 'value' | 'parameter' | 'sign' | 'group';
  readonly text: string;
  /** Of a group. */
  readonly inner: readonly Token[];
  /** Which of the statement's parameters this is. */
  readonly index: number;
}

const PIECE =
  /\s+|(?<comment>--[^\n]*|\/\*.*?\*\/)|(?<value>x?'(?:[^'\\]|''|\\.)*'|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<name>`[^`]*`|"[^"]*")|(?<parameter>\?|\$\d+)|(?<word>[A-Za-z_$@][\w$@]*)|(?<sign><=>|<>|<=|>=|!=|\|\||:=|.)/gsy;

/** Takes a statement apart, with parentheses as groups; texts cannot pass for anything else. */
function tokensOf(sql: string): Token[] {
  const stack: Token[][] = [[]];
  let parameters = 0;
  for (const { 0: text, groups = {} } of sql.matchAll(PIECE)) {
    const add = (kind: Token['kind'], said: string, inner: readonly Token[] = [], index = -1) =>
      stack.at(-1)!.push({ kind, text: said, inner, index });
    if (groups.value !== undefined) add('value', text);
    else if (groups.name !== undefined) add('name', text.slice(1, -1).toLowerCase());
    else if (groups.word !== undefined) add('word', text.toLowerCase());
    else if (groups.parameter !== undefined)
      add('parameter', text, [], (text === '?' ? (parameters += 1) : Number(text.slice(1))) - 1);
    else if (text === '(') stack.push([]);
    else if (text === ')') {
      const inner = stack.pop()!;
      if (stack.length === 0) throw new Error(`A parenthesis too many: ${sql}`);
      add('group', '()', inner);
    } else if (groups.sign !== undefined) add('sign', text);
  }
  if (stack.length !== 1) throw new Error(`A parenthesis is open: ${sql}`);
  return stack[0]!;
}

/** A part of a statement, with the word before it. */
interface Clause {
  readonly word: string;
  readonly tokens: readonly Token[];
}

function isWord(token: Token | undefined, ...words: string[]): boolean {
  return token?.kind === 'word' && words.includes(token.text);
}

/** The pieces between these words, which stand outside of all parentheses; each with the word before it. */
function clausesOf(tokens: readonly Token[], words: readonly string[]): { word: string; tokens: Token[] }[] {
  const clauses: { word: string; tokens: Token[] }[] = [{ word: '', tokens: [] }];
  for (const token of tokens) {
    if (isWord(token, ...words)) clauses.push({ word: token.text, tokens: [] });
    else clauses.at(-1)!.tokens.push(token);
  }
  return clauses;
}

/** Splits at a word, or at a sign. */
function splitAt(tokens: readonly Token[], ...separators: string[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if ((token.kind === 'word' || token.kind === 'sign') && separators.includes(token.text)) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

/** One tenant or several, each as a text or as the place of a parameter, of which a row must have one. */
export type Binding = readonly (string | number)[];

/** How a statement reaches a table whose rows belong to tenants. */
export interface Access {
  readonly table: string;
  readonly isInsert: boolean;
  /** What binds it to tenants, each by itself; none when it can reach the rows of any. */
  readonly bindings: readonly Binding[];
}

interface Source {
  readonly table: string;
  readonly alias: string;
}

const CLAUSES = [
  ...'select from where group having order limit set values join on update delete into union'.split(' '),
  ...'intersect except returning for window using insert replace duplicate'.split(' '),
];
const JOIN_WORDS = ['left', 'right', 'inner', 'outer', 'cross', 'natural', 'straight_join'];

/**
 * Tells how a statement reaches tables of tenants: each SELECT, UPDATE and DELETE is bound by an equation that none of its
 * rows can do without, each INSERT by the column. Sub-selects are looked at by themselves.
 */
export function accessesOf(sql: string, owned: ReadonlySet<string>): Access[] {
  const accesses: Access[] = [];
  const visit = (tokens: readonly Token[]) => {
    for (const block of splitAt(tokens, 'union', 'intersect', 'except', ';')) {
      if (isStatement(block)) accesses.push(...accessesIn(block).filter(({ table }) => owned.has(table)));
    }
    for (const { kind, inner } of tokens) if (kind === 'group') visit(inner);
  };
  visit(tokensOf(sql));
  return accesses;
}

function isStatement(tokens: readonly Token[]): boolean {
  return tokens.some((token) => isWord(token, 'select', 'update', 'delete', 'insert', 'replace'));
}

function accessesIn(block: readonly Token[]): Access[] {
  const clauses = clausesOf(block, CLAUSES);
  const sources = clauses.flatMap((clause) => sourcesOf(clause));
  const conditions = clauses.filter(({ word }) => word === 'where' || word === 'on');
  const into = clauses.find(({ word }) => word === 'into');
  return [
    ...(into ? [insertion(into.tokens, clauses)] : []),
    ...sources.map(({ table, alias }) => ({
      table,
      isInsert: false,
      bindings: conditions.flatMap(({ tokens }) => bindingsIn(tokens, alias, sources.length === 1)),
    })),
  ];
}

/** `INSERT INTO t (a, b) VALUES (…), (…)`, or with a SELECT in the place of the values, which is looked at by itself. */
function insertion(target: readonly Token[], clauses: readonly Clause[]): Access {
  const table = target[0]?.text ?? '';
  const columns = splitAt(target.find(({ kind }) => kind === 'group')?.inner ?? [], ',');
  const at = columns.findIndex(([column]) => column?.text === 'tenant_id');
  if (at < 0) return { table, isInsert: true, bindings: [] };
  const values = clauses.find(({ word }) => word === 'values')?.tokens ?? [];
  const rows = values.filter(({ kind }) => kind === 'group');
  return {
    table,
    isInsert: true,
    bindings: [rows.flatMap(({ inner }) => toldBy(splitAt(inner, ',')[at]?.[0]))],
  };
}

/** The tables of `FROM a x, b y`, `JOIN c z`, `UPDATE d`. */
function sourcesOf({ word, tokens }: Clause): Source[] {
  if (!['from', 'join', 'update'].includes(word)) return [];
  return splitAt(tokens, ',').flatMap((part): Source[] => {
    const [table, second, third] = part.filter((token) => !isWord(token, ...JOIN_WORDS));
    if (!table || table.kind === 'group' || table.kind === 'value') return [];
    const alias = isWord(second, 'as') ? third : second;
    const isAlias =
      alias?.kind === 'name' || (alias?.kind === 'word' && !/^(use|force|indexed)$/.test(alias.text));
    return [{ table: table.text, alias: isAlias ? alias.text : table.text }];
  });
}

/** What the tenant must be for a condition to hold. Of an OR every branch must say it, of an AND one part. */
function bindingsIn(condition: readonly Token[], alias: string, isOnly: boolean): Binding[] {
  const branches = splitAt(condition, 'or', '||').map((branch) => bindingsOfAll(branch, alias, isOnly));
  if (branches.length === 1) return branches[0]!;
  return branches.every(({ length }) => length > 0) ? [branches.flatMap(([first]) => first!)] : [];
}

function bindingsOfAll(condition: readonly Token[], alias: string, isOnly: boolean): Binding[] {
  return splitAt(condition, 'and').flatMap((part): Binding[] => {
    if (part.length === 1 && part[0]!.kind === 'group') return bindingsIn(part[0]!.inner, alias, isOnly);
    return equated(part, alias, isOnly) ?? below(part, alias, isOnly) ?? [];
  });
}

/** `alias.tenant_id = value`; or `tenant_id = value`, where there is no other table. */
function equated(part: readonly Token[], alias: string, isOnly: boolean): Binding[] | null {
  const [left = [], right = [], ...more] = splitAt(part, '=');
  if (more.length > 0) return null;
  const [isLeft, isRight] = [left, right].map((side) => isColumn(side, 'tenant_id', alias, isOnly));
  if (isLeft === isRight) return null;
  return sureOf(isLeft ? right : left);
}

/** `INSTR(CONCAT(',', alias.ancestors, ','), value) > 0`: the tenants below one. In the journal the path is `alias.lineage`. */
function below(part: readonly Token[], alias: string, isOnly: boolean): Binding[] | null {
  const [instr, group, sign, zero] = part;
  if (part.length !== 4 || !isWord(instr, 'instr', 'strpos') || sign?.text !== '>' || zero?.text !== '0')
    return null;
  const [path = [], lineage = []] = splitAt(group?.inner ?? [], ',');
  const isPath =
    isColumn(path, 'lineage', alias, isOnly) ||
    (isWord(path[0], 'concat') &&
      splitAt(path[1]?.inner ?? [], ',').some((each) => isColumn(each, 'ancestors', alias, isOnly)));
  return isPath ? sureOf(lineage) : null;
}

function isColumn(side: readonly Token[], column: string, alias: string, isOnly: boolean): boolean {
  const last = side.at(-1);
  if (last?.text !== column || last.kind === 'value') return false;
  return side.length === 1 ? isOnly : side.length === 3 && side[0]!.text === alias && side[1]!.text === '.';
}

/** A text, a parameter, or the same column of another table, which is looked at by itself. */
function sureOf(side: readonly Token[]): Binding[] | null {
  const last = side.at(-1);
  if (side.length === 1 && (last?.kind === 'value' || last?.kind === 'parameter')) return [toldBy(last)];
  return side.length === 3 && last?.text === 'tenant_id' ? [[]] : null;
}

function toldBy(token: Token | undefined): Binding {
  if (token?.kind === 'parameter') return [token.index];
  return token?.kind === 'value' ? [token.text.replace(/^'|'$/g, '')] : [];
}
