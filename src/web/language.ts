import type { Request } from 'express';

export type Language = 'zh' | 'en';

/** The language of error messages: Chinese unless the caller prefers English. */
export function languageOf(request: Request): Language {
  return request.acceptsLanguages('zh', 'en') === 'en' ? 'en' : 'zh';
}
