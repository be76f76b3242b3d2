import { components } from '../../contract/components.ts';
import type { BodyDefinition, Endpoint } from '../../contract/endpoint.ts';
import { describeNeeds } from '../../contract/needs.ts';
import type { QueryParameter } from '../../contract/query.ts';
import { queryOf } from '../../contract/shared-query.ts';
import { catalogue } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { dialectOf } from '../dialect/dialects.ts';
import { bodySchema } from '../envelope.ts';
import type { Route } from '../route.ts';
import { exampleOf, textFor } from './example.ts';
import { NamedSchemas } from './named-schemas.ts';
import { asAnswer, asRequest } from './present.ts';

/**
 * The OpenAPI 3.1 document of the routes. It shows the schemas that requests are checked against.
 * Nouns are in `components`. Each operation has a stable id, a sentence, its permission and
 * examples.
 */
export function openApi(routes: readonly Route[], version: string): object {
  const schemas = new NamedSchemas(components);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)\+?/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Roster',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: 'One control plane for a fleet: access control, services and job scheduling.',
    },
    servers: [{ url: '/', description: 'The agent that serves this document.' }],
    security: [{ registryToken: [] }, { bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        registryToken: { type: 'apiKey', in: 'header', name: 'X-Registry-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { ...schemas.definitions, Problem: problemSchema },
    },
  };
}

function operation({ endpoint, method }: Route, schemas: NamedSchemas): object {
  const { id, noun, summary, permission, blocking, body, kind } = endpoint;
  const isFirst = endpoint.methods[0] === method;
  const same = isFirst ? '' : ` The same as with ${endpoint.methods[0]}.`;
  return {
    // A client that is generated from the document has a method for each id.
    ...(isFirst
      ? { operationId: id }
      : { operationId: `${id}.${method.toLowerCase()}`, 'x-same-as': id }),
    tags: [noun],
    summary,
    description: `${summary}.${same} Needs ${describeNeeds(permission)}.`,
    'x-permission': permission.kind === 'decided' ? permission.says : permission,
    ...(blocking && { 'x-blocking': true }),
    parameters: [
      ...pathParameters(endpoint),
      ...queryParameters(endpoint),
      ...(kind === 'write' ? [keyParameter] : []),
    ],
    ...(body && {
      requestBody: { required: !body.optional, content: bodyContent(endpoint, body, schemas) },
    }),
    responses: {
      ...(kind === 'socket'
        ? { 101: { description: 'A WebSocket. A refusal closes it with 1008, a bug with 1011.' } }
        : {
            200: {
              description: 'Done.',
              headers: headersOf(endpoint),
              ...answerContent(endpoint, schemas),
            },
          }),
      default: {
        description: 'Refused.',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  };
}

const pathParameters = ({ path }: Endpoint): object[] =>
  [...path.matchAll(/:([a-z_]+)(\+?)/g)].map(([, name = '', greedy]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: textFor(name),
    ...(greedy && { description: 'May contain slashes, as they are or as %2F.' }),
  }));

const queryParameters = (endpoint: Endpoint): object[] =>
  Object.entries(queryOf(endpoint)).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: parameter.required ?? false,
    description: parameter.description,
    schema: querySchema(parameter),
  }));

const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Repetitions of a request with the same key have one effect and the same answer.',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency.keyLengthMax },
};

function bodyContent({ family }: Endpoint, body: BodyDefinition, schemas: NamedSchemas): object {
  if (body.raw !== undefined || body.isStreamed) return { 'application/octet-stream': {} };
  const isClosed = body.unknown === 'refuse';
  const suffix = isClosed ? 'Request' : 'OpenRequest';
  const schema = schemas.present(bodySchema(family, body), suffix, asRequest(isClosed));
  const example = body.example ?? exampleOf(schema, schemas.resolve);
  return { 'application/json': { schema, example } };
}

function querySchema({ kind, default: absent, minimum, maximum }: QueryParameter): object {
  if (kind === 'strings') return { type: 'array', items: { type: 'string' } };
  const absence = absent !== undefined && { default: absent };
  if (kind !== 'integer' && kind !== 'index') {
    return { type: kind === 'boolean' ? 'boolean' : 'string', ...absence };
  }
  return { type: 'integer', minimum: minimum ?? 0, ...(maximum && { maximum }), ...absence };
}

/** The headers of a 200 that the endpoint's dialect has. */
function headersOf({ family, kind }: Endpoint): object {
  const { index, knownLeader, lastContact, nextToken, ...registry } = dialectOf[family].headers;
  const isRead = kind === 'read' || kind === 'list';
  const headers: [name: string | undefined | false, type: string, description: string][] = [
    [index, 'integer', 'Index of the answer.'],
    [isRead && knownLeader, 'boolean', 'Whether a leader is known.'],
    [isRead && lastContact, 'integer', 'Milliseconds since the leader was heard.'],
    [registry.defaultPolicy, 'string', defaultPolicyHelp],
    [kind === 'list' && nextToken, 'string', 'Where the next page begins; absent on the last.'],
    [kind === 'list' && registry.total, 'integer', totalHelp],
    [kind === 'list' && registry.filteredByAcls, 'boolean', filteredHelp],
  ];
  return Object.fromEntries(
    headers.flatMap(([name, type, description]) =>
      name ? [[shownHeader(name), { schema: { type }, description }]] : [],
    ),
  );
}

const defaultPolicyHelp =
  '`allow` or `deny`: what decides where no rule speaks; absent with access control off.';
const totalHelp = 'With `total` or `sort`: the number of records on all pages.';
const filteredHelp = 'Present when records were left out that the caller may not see.';

/** `X-Registry-KnownLeader` for `x-registry-knownleader`. */
const shownHeader = (name: string): string =>
  name
    .split('-')
    .map((word) => headerWords[word] ?? word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('-');

const headerWords: Readonly<Record<string, string>> = {
  acl: 'ACL',
  acls: 'ACLs',
  knownleader: 'KnownLeader',
  lastcontact: 'LastContact',
  nexttoken: 'NextToken',
};

function answerContent({ answer, kind }: Endpoint, schemas: NamedSchemas): object {
  if (answer === undefined) return {};
  const presented = schemas.present(answer, '', asAnswer);
  const schema = kind === 'list' ? { type: 'array', items: presented } : presented;
  return {
    content: { 'application/json': { schema, example: exampleOf(schema, schemas.resolve) } },
  };
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
