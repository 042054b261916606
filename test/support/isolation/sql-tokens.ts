/** A piece of SQL: a word, a value, a sign; or what stands between two parentheses. */
export interface Token {
  readonly kind: 'word' | 'name' | 'value' | 'parameter' | 'sign' | 'group';
  readonly text: string;
  /** Of a group. */
  readonly inner: readonly Token[];
  /** Which of the statement's parameters this is. */
  readonly index: number;
}

const PIECE =
  /\s+|(?<comment>--[^\n]*|\/\*.*?\*\/)|(?<value>x?'(?:[^'\\]|''|\\.)*'|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<name>`[^`]*`|"[^"]*")|(?<word>[A-Za-z_$@][\w$@]*)|(?<parameter>\?)|(?<sign><=>|<>|<=|>=|!=|\|\||:=|.)/gsy;

/** Takes a statement apart, with parentheses as groups; texts cannot pass for anything else. */
export function tokensOf(sql: string): Token[] {
  const stack: Token[][] = [[]];
  let parameters = 0;
  for (const { 0: text, groups = {} } of sql.matchAll(PIECE)) {
    const add = (kind: Token['kind'], said: string, inner: readonly Token[] = [], index = -1) =>
      stack.at(-1)!.push({ kind, text: said, inner, index });
    if (groups.value !== undefined) add('value', text);
    else if (groups.name !== undefined) add('name', text.slice(1, -1).toLowerCase());
    else if (groups.word !== undefined) add('word', text.toLowerCase());
    else if (groups.parameter !== undefined) add('parameter', text, [], (parameters += 1) - 1);
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
export interface Clause {
  readonly word: string;
  readonly tokens: readonly Token[];
}

export function isWord(token: Token | undefined, ...words: string[]): boolean {
  return token?.kind === 'word' && words.includes(token.text);
}

/** The pieces between these words, which stand outside of all parentheses; each with the word before it. */
export function clausesOf(
  tokens: readonly Token[],
  words: readonly string[],
): { word: string; tokens: Token[] }[] {
  const clauses: { word: string; tokens: Token[] }[] = [{ word: '', tokens: [] }];
  for (const token of tokens) {
    if (isWord(token, ...words)) clauses.push({ word: token.text, tokens: [] });
    else clauses.at(-1)!.tokens.push(token);
  }
  return clauses;
}

/** Splits at a word, or at a sign. */
export function splitAt(tokens: readonly Token[], ...separators: string[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if ((token.kind === 'word' || token.kind === 'sign') && separators.includes(token.text)) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}
