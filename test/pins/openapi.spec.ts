import { readFile } from 'node:fs/promises';
import type { OpenAPIObject } from '@nestjs/swagger';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { renderOpenApi } from '../../src/openapi-document.js';
import {
  operationsOf,
  refuseDanglingReferences,
  refuseDuplicateOperations,
} from '../../src/openapi-shape.js';

const FILE = new URL('../../openapi.yaml', import.meta.url);

describe('openapi.yaml', () => {
  let rendered: string;
  let document: OpenAPIObject;
  beforeAll(async () => {
    rendered = await renderOpenApi();
    document = parse(rendered) as OpenAPIObject;
  });

  it('is what the code says (npm run openapi:write)', async () => {
    expect(await readFile(FILE, 'utf8')).toBe(rendered);
  });

  it('is the same at every rendering', async () => {
    expect(await renderOpenApi()).toBe(rendered);
  });

  it('names, summarises and tags every operation', () => {
    for (const { operationId, summary, tags } of operationsOf(document)) {
      expect(operationId).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect({ operationId, summary, tags }).toEqual({
        operationId,
        summary: expect.stringMatching(/^[A-Z`]/),
        tags: [expect.stringMatching(/^(Agent|Bot|Admin|Service)$/)],
      });
    }
  });

  it('shows the schema of every successful answer and the refusals of every guarded operation', () => {
    for (const { operationId, responses, security } of operationsOf(document)) {
      const successes = Object.entries(responses).filter(([status]) => /^2/.test(status));
      expect([operationId, successes.length > 0]).toEqual([operationId, true]);
      for (const [status, response] of successes)
        if (status !== '204')
          expect([operationId, status, response]).toEqual([
            operationId,
            status,
            expect.objectContaining({ content: expect.anything() }),
          ]);
      if (security !== undefined)
        expect([operationId, Object.keys(responses)]).toEqual([
          operationId,
          expect.arrayContaining(['401', '403']),
        ]);
    }
  });

  it('names schemas by the thing, not by the class', () => {
    const names = Object.keys(document.components?.schemas ?? {});
    expect(names.filter((name) => /(Dto|Body|Query)$/.test(name))).toEqual([]);
  });

  it('demands a body only where a field of it is needed', () => {
    for (const { operationId, requestBody } of operationsOf(document)) {
      if (requestBody === undefined) continue;
      const { required = false, content } = requestBody as {
        required?: boolean;
        content: Record<string, { schema: { $ref: string } }>;
      };
      const { $ref = '' } = content['application/json']?.schema ?? {};
      const schema = document.components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? {};
      const isPatch = $ref.endsWith('Patch');
      expect([operationId, required]).toEqual([operationId, isPatch || 'required' in schema]);
    }
  });

  it('tells how a body is refused wherever one can be sent, also where none belongs', () => {
    const items = Object.entries(document.paths).map(
      ([path, { get: _, ...item }]) => [path, item] as const,
    );
    for (const { operationId, responses } of operationsOf({
      ...document,
      paths: Object.fromEntries(items),
    }))
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(['400', '413', '415', '503']),
      ]);
  });

  it('tells of no refused body where none is read', () => {
    const gets = Object.entries(document.paths).map(([path, { get }]) => [path, { get }] as const);
    const paths = Object.fromEntries(gets.filter(([, { get }]) => get !== undefined));
    const refusing = operationsOf({ ...document, paths }).filter(
      ({ responses }) => '413' in responses || '415' in responses,
    );
    expect(refusing.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('is refused when two operations have one name', () => {
    const twice = { get: { operationId: 'read', responses: {} } };
    const paths = { '/a': twice, '/b': twice };
    expect(() => refuseDuplicateOperations({ ...document, paths })).toThrow('read');
  });

  it('is refused when a reference leads nowhere', () => {
    const schemas = { Page: { $ref: '#/components/schemas/Gone' } };
    const dangling = { ...document, paths: {}, components: { schemas } };
    expect(() => refuseDanglingReferences(document)).not.toThrow();
    expect(() => refuseDanglingReferences(dangling)).toThrow('"Gone"');
  });
});
