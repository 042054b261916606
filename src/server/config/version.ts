export const { version } = require('../../../package.json') as { readonly version: string };
