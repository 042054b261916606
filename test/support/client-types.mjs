// Prints the types of the client: those that openapi-typescript makes, and for each answer the reasons that it names. In the
// document itself they would take a schema for each answer.
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';

const document = load(readFileSync(new URL('../../docs/openapi.yaml', import.meta.url), 'utf8'));
const operations = Object.values(document.paths).flatMap(Object.values);
const answers = [document.components, ...operations].flatMap(({ responses }) => Object.values(responses));

const object = (properties) => ({ type: 'object', required: Object.keys(properties), properties });
for (const { description = '', content } of answers) {
  const reasons = [...description.matchAll(/`([A-Z_]+)`: /g)].map(([, reason]) => reason);
  if (reasons.length === 0) continue;
  const json = content['application/json'];
  json.schema = {
    allOf: [json.schema, object({ data: object({ reason: { type: 'string', enum: reasons } }) })],
  };
}
process.stdout.write(COMMENT_HEADER + astToString(await openapiTS(document)));
