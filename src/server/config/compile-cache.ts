import * as nodeModule from 'node:module';
import { join } from 'node:path';

/** Node.js 20 has no cache of compiled code. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown };

/**
 * The main programs import this before all else. What is compiled is kept beside the code, for the next start: whoever may write
 * there may change the code itself. Where nobody may, it is read if it is there. `NODE_COMPILE_CACHE` names another folder.
 */
enableCompileCache?.(join(__dirname, '..', '..', '.compiled'));
