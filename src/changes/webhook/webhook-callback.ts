import type { Callbacks } from '../../web/operation.decorator';
import { schemaRef } from '../../web/schema-names';
import { WebhookMessageDto } from './webhook.dto';

const header = (name: string, description: string, example: string) =>
  ({ name, in: 'header', required: true, description, schema: { type: 'string' }, example }) as const;

/** What receivers of webhooks are sent, as documents describe it. */
export const MESSAGES: Callbacks = {
  WebhookMessage: {
    '{$request.body#/url}': {
      post: {
        operationId: 'receiveMessage',
        summary: 'A change, or a ping',
        description:
          'Messages follow Standard Webhooks. Each change is sent at least once, and those of one journal in the order of their commits.',
        parameters: [
          header('webhook-id', 'The same in every try: skip what you have seen.', 'msg_000000_42_0_1'),
          header('webhook-timestamp', 'When it was sent, in seconds since 1970.', '1767229200'),
          header(
            'webhook-signature',
            'For each valid secret `v1,` and the HMAC-SHA256, in Base64, of `{webhook-id}.{webhook-timestamp}.{body}`; separated by spaces.',
            'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
          ),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaRef(WebhookMessageDto) } },
        },
        security: [],
        responses: {
          '2XX': { description: 'It has arrived; the rest of the answer is ignored.' },
          '4XX': {
            description:
              'It has failed, as with any other answer, or none within 10 seconds: it is sent again, with growing pauses (backoff).',
          },
        },
      },
    },
  },
};
