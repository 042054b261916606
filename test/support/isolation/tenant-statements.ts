import { clausesOf, isWord, splitAt, tokensOf, type Clause, type Token } from './sql-tokens';

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
  ...[
    'select',
    'from',
    'where',
    'group',
    'having',
    'order',
    'limit',
    'set',
    'values',
    'join',
    'on',
    'update',
    'delete',
  ],
  ...[
    'into',
    'union',
    'intersect',
    'except',
    'returning',
    'for',
    'window',
    'using',
    'insert',
    'replace',
    'duplicate',
  ],
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

/** `INSTR(CONCAT(',', alias.ancestors, ','), value) > 0`: the tenants below one. */
function below(part: readonly Token[], alias: string, isOnly: boolean): Binding[] | null {
  const [instr, group, sign, zero] = part;
  if (part.length !== 4 || !isWord(instr, 'instr') || sign?.text !== '>' || zero?.text !== '0') return null;
  const [path = [], lineage = []] = splitAt(group?.inner ?? [], ',');
  const isPath =
    isWord(path[0], 'concat') &&
    splitAt(path[1]?.inner ?? [], ',').some((each) => isColumn(each, 'ancestors', alias, isOnly));
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
