import { Raw, type FindOperator } from 'typeorm';

/** That a column holds this text somewhere, to the byte. Not LIKE: in it `%` and `_` mean something, and the databases
 * differ about upper and lower case. One in a statement: the parameter has one name. */
export function contains(text: string): FindOperator<string> {
  return Raw((column) => `INSTR(${column}, :contained) > 0`, { contained: text }) as FindOperator<string>;
}
