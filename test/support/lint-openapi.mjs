// A process of its own: the linter is an ES module, which Jest cannot load.
import { createConfig, lint } from '@redocly/openapi-core';

const problems = await lint({
  ref: process.argv[2],
  config: await createConfig({ extends: ['recommended'] }),
});
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${severity} ${ruleId}: ${message} (${location[0]?.pointer})`);
}
