import { Injectable, type PipeTransform } from '@nestjs/common';
import { HttpErrors } from '../errors/http.errors';
import { isTextId, parseNumericId } from './ids';

export const MAX_IDS = 500;

const NOT_AN_ID = { zh: 'ID 必须为十进制整数', en: 'must be a decimal id' };
const TOO_MANY = { zh: `最多 ${MAX_IDS} 个 ID`, en: `must have at most ${MAX_IDS} ids` };

/** A numeric id in a path. */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(value: string): number {
    return parseNumericId(value) ?? refuse('id', NOT_AN_ID);
  }
}

/** A snowflake id in a path: digits that no JSON number holds. */
@Injectable()
export class TextIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    return isTextId(value) ? value : refuse('id', NOT_AN_ID);
  }
}

/** Numeric ids in a path, separated by commas; duplicates collapse. */
@Injectable()
export class IdsPipe implements PipeTransform<string, number[]> {
  transform(value: string): number[] {
    const ids = new Set(value.split(',').map((id) => parseNumericId(id) ?? refuse('ids', NOT_AN_ID)));
    return ids.size > MAX_IDS ? refuse('ids', TOO_MANY) : [...ids];
  }
}

function refuse(field: string, message: { zh: string; en: string }): never {
  throw HttpErrors.INVALID({ fields: [{ field, message }] });
}
