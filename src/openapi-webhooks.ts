import type { OpenAPIObject } from '@nestjs/swagger';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;

const header = (name: string, description: string, required = true): object => ({
  ...{ name, in: 'header', description, required },
  schema: { type: 'string' },
});

const SIGNED = [
  header('webhook-id', 'The id of what is sent: by it a receiver knows what it has already'),
  header('webhook-timestamp', 'Seconds since 1970, of this try'),
  header('webhook-signature', 'Standard Webhooks, v1; two, separated by a space, in a rotation'),
  header('traceparent', 'W3C Trace Context of the call, where it has one', false),
];
const BUSY = Object.fromEntries(
  ['409', '423', '425', '429', '503'].map((status) => [
    status,
    { description: 'Busy: it comes again after `Retry-After`, which is no failure' },
  ]),
);
const bodyOf = (...schemas: string[]): object => ({
  required: true,
  content: {
    'application/json': {
      schema:
        schemas.length === 1
          ? { $ref: `#/components/schemas/${schemas[0]}` }
          : { oneOf: schemas.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    },
  },
});

const DESCRIPTION = `The same id and the same bytes at every try. Other answers: 404 and 410 make the message a dead letter at
once; everything else, redirects and silence (15 s) too, leads to another try after 1, 2, 4 … s up to an hour, until
\`delivery.maxAgeHours\`.`;

const EVENT_DESCRIPTION = `To the URL of \`events\` of an app, as things happen. The same id and the same bytes at every try.
Events do not wait for one another: \`sequence\` tells their order. Answers mean what they mean for messages, apart from a
\`turnId\`, which is not read; an event that nobody takes is given up.`;

/** What is posted to the URLs of apps. */
export const WEBHOOKS = {
  message: {
    post: {
      operationId: 'receiveMessage',
      tags: ['Webhooks'],
      summary: 'A message for a session or a bot, or a test delivery',
      description: DESCRIPTION,
      security: [],
      parameters: SIGNED,
      requestBody: bodyOf('Message', 'TestMessage'),
      responses: {
        '2XX': {
          description: 'Delivered. With `turnId` that turn begins in the same step',
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Acknowledgement' } },
          },
        },
        ...BUSY,
      },
    },
  },
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['Webhooks'],
      summary: 'Something that happened to a call, a message or a turn',
      description: EVENT_DESCRIPTION,
      security: [],
      parameters: SIGNED,
      requestBody: bodyOf('Event'),
      responses: { '2XX': { description: 'Taken' }, ...BUSY },
    },
  },
} as unknown as Webhooks;
