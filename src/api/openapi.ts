import type { BodyDefinition } from '../contract/endpoint.ts';
import type { QueryParameter } from '../contract/query.ts';
import { queryOf } from '../contract/shared-query.ts';
import { catalogue } from '../model/errors.ts';
import { bodySchema } from './envelope.ts';
import { requestSchema } from './request-schema.ts';
import type { Route } from './route.ts';
import { shownSchema } from './shown-schema.ts';

/**
 * The OpenAPI 3.1 document of the routes. Their schemas are JSON Schema already, so what is
 * written here is what is enforced.
 */
export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)\+?/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Roster',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: 'One control plane for a fleet: access control, services and job scheduling.',
    },
    security: [{ registryToken: [] }, { bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        registryToken: { type: 'apiKey', in: 'header', name: 'X-Registry-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { Problem: problemSchema },
    },
  };
}

function operation(route: Route): object {
  const parameters = [...route.path.matchAll(/:([a-z_]+)(\+?)/g)].map(([, name, greedy]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(greedy && { description: 'May contain slashes, as they are or as %2F.' }),
  }));
  const query = Object.entries(queryOf(route.endpoint)).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: parameter.required ?? false,
    description: parameter.description,
    schema: querySchema(parameter),
  }));
  return {
    operationId: operationId(route),
    tags: [route.noun],
    summary: route.summary,
    ...(route.endpoint.blocking && { 'x-blocking': true }),
    parameters: [...parameters, ...query],
    ...(route.body && {
      requestBody: {
        required: !route.body.optional,
        content: bodyContent(route, route.body),
      },
    }),
    responses: {
      ...(route.run.kind === 'socket'
        ? { 101: { description: 'A WebSocket; what is wrong closes it with 1008 or 1011.' } }
        : { 200: { description: 'Done.', headers: headersOf(route), ...answerContent(route) } }),
      default: {
        description: 'Refused.',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  };
}

const bodyContent = ({ family }: Route, body: BodyDefinition): object =>
  body.raw === undefined
    ? { 'application/json': { schema: requestSchema(bodySchema(family, body), body.unknown) } }
    : { 'application/octet-stream': {} };

function operationId({ method, path }: Route): string {
  const words = path
    .replace(/^\/v1\//, '')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  return [method.toLowerCase(), ...words].join('_');
}

function querySchema({ kind, default: absent, minimum, maximum }: QueryParameter): object {
  if (kind === 'strings') return { type: 'array', items: { type: 'string' } };
  const type = {
    ...{ string: 'string', duration: 'string', boolean: 'boolean' },
    ...{ integer: 'integer', index: 'integer' },
  };
  const bounds =
    kind === 'integer' || kind === 'index'
      ? { minimum: minimum ?? 0, ...(maximum && { maximum }) }
      : {};
  return { type: type[kind], ...bounds, ...(absent !== undefined && { default: absent }) };
}

function headersOf({ family, run }: Route): object {
  const name = family === 'registry' ? 'X-Registry' : 'X-Scheduler';
  const header = (type: string, description: string) => ({ schema: { type }, description });
  return {
    [`${name}-Index`]: header('integer', 'Index of the answer.'),
    ...((run.kind === 'read' || run.kind === 'list') && {
      [`${name}-KnownLeader`]: header('boolean', 'Whether a leader is known.'),
      [`${name}-LastContact`]: header('integer', 'Milliseconds since the leader was heard.'),
    }),
    ...(family === 'registry' && {
      [`${name}-Default-ACL-Policy`]: header(
        'string',
        '`allow` or `deny`: what decides where no rule speaks; absent with access control off.',
      ),
    }),
    ...(run.kind === 'list' && {
      [`${name}-NextToken`]: header('string', 'Where the next page begins; absent on the last.'),
    }),
  };
}

function answerContent({ answer, run }: Route): object {
  if (answer === undefined) return {};
  const presented = shownSchema(answer);
  const schema = run.kind === 'list' ? { type: 'array', items: presented } : presented;
  return { content: { 'application/json': { schema } } };
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(catalogue) },
    conflict: { type: 'object', description: 'The record that a guard failed on.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'message'],
        properties: {
          pointer: { type: 'string' },
          message: { type: 'string' },
          line: { type: 'integer' },
          column: { type: 'integer' },
        },
      },
    },
  },
} as const;
