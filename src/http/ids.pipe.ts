import { Injectable, type PipeTransform } from '@nestjs/common';
import { HttpErrors } from './http.errors';
import { parseNumericId } from './numeric-id';

const MAX_IDS = 500;

const NOT_AN_ID = { zh: '必须为十进制数字 id', en: 'must be a decimal id' };
const TOO_MANY = { zh: `最多 ${MAX_IDS} 个 id`, en: `must hold at most ${MAX_IDS} ids` };

/** A numeric id in a path. */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(value: string): number {
    return parseNumericId(value) ?? refuse('id', NOT_AN_ID);
  }
}

/** Numeric ids in a path, separated by commas; duplicates collapse. */
@Injectable()
export class IdsPipe implements PipeTransform<string, number[]> {
  transform(value: string): number[] {
    const ids = value.split(',').map((id) => parseNumericId(id) ?? refuse('ids', NOT_AN_ID));
    if (ids.length > MAX_IDS) refuse('ids', TOO_MANY);
    return [...new Set(ids)];
  }
}

function refuse(field: string, message: { zh: string; en: string }): never {
  throw HttpErrors.INVALID({ fields: [{ field, message }] });
}
