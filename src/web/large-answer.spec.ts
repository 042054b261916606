import fc from 'fast-check';
import { JsonParts } from './large-answer';
import type { Request } from 'express';

describe('JsonParts', () => {
  it('JsonParts gives the text of JSON.stringify, whatever lists and objects it is made of', async () => {
    const odd = fc.constantFrom(undefined, new Date(0), { toJSON: () => [1, 2] }, [[]], [{}], [undefined]);
    const { value } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.jsonValue(), odd),
      value: fc.oneof(
        { maxDepth: 4 },
        tie('leaf'),
        fc.array(tie('value'), { maxLength: 8 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, async (data) => {
        const parts = await JsonParts.of({ data });
        expect(parts.toReply({ fresh: true } as Request)).toBe(JSON.stringify({ data }));
      }),
      { numRuns: 300 },
    );
  });
});
