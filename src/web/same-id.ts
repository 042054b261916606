import { HttpErrors } from '../errors/http.errors';

const DIFFERENT = { zh: '与路径中的 ID 不一致', en: 'differs from the id in the path' };

/** The id in a path, when a body does not name another. */
export function sameId<T extends number | string>(field: string, inPath: T, inBody: T | null | undefined): T {
  if (inBody != null && inBody !== inPath)
    throw HttpErrors.INVALID({ fields: [{ field, message: DIFFERENT }] });
  return inPath;
}
