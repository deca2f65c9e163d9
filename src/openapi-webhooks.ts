import type { OpenAPIObject } from '@nestjs/swagger';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;

const header = (name: string, description: string, required = true): object => ({
  ...{ name, in: 'header', description, required },
  schema: { type: 'string' },
});

const DESCRIPTION = `The same id and the same bytes at every try. Other answers: 404 and 410 make the message a dead letter at
once; everything else, redirects and silence (15 s) too, leads to another try after 1, 2, 4 … s up to an hour, until
\`delivery.maxAgeHours\`.`;

/** What is posted to the URL of an app whose `delivery.mode` is `webhook`. */
export const WEBHOOKS = {
  message: {
    post: {
      operationId: 'receiveMessage',
      tags: ['Webhooks'],
      summary: 'A message for a session or a bot',
      description: DESCRIPTION,
      security: [],
      parameters: [
        header('webhook-id', 'The id of the message: by it a receiver knows what it has already'),
        header('webhook-timestamp', 'Seconds since 1970, of this try'),
        header(
          'webhook-signature',
          'Standard Webhooks, v1; two, separated by a space, in a rotation',
        ),
        header('traceparent', 'W3C Trace Context of the first call, where it has one', false),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Message' } } },
      },
      responses: {
        '2XX': {
          description: 'Delivered. With `turnId` that turn begins in the same step',
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Acknowledgement' } },
          },
        },
        ...Object.fromEntries(
          ['409', '423', '425', '429', '503'].map((status) => [
            status,
            { description: 'Busy: it comes again after `Retry-After`, which is no failure' },
          ]),
        ),
      },
    },
  },
} as unknown as Webhooks;
