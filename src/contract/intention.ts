import { everyService } from '../model/config-entry/config-entry.ts';
import {
  type IntentionCheck,
  IntentionCheckSchema,
  type IntentionMatch,
  IntentionMatchSchema,
  type IntentionMatrix,
  IntentionMatrixSchema,
} from '../model/config-entry/intention-answers.ts';
import type { ServiceName } from '../model/config-entry/kind.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { allOf, namedAccess, open, type Permission } from '../model/permission/permission.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import { type QueryValues, text } from './query.ts';

const service = (description: string) =>
  ({
    kind: 'string',
    required: true,
    lengthMax: limits.config.questionLengthMax,
    description: `${description}: NAME, NAMESPACE/NAME or PARTITION/NAMESPACE/NAME.`,
  }) as const;

export const checkQuery = {
  source: service('The service that calls'),
  destination: service('The service that is called'),
  source_peer: text('The peer of the source.'),
  path: {
    kind: 'string',
    lengthMax: limits.config.questionLengthMax,
    description: 'The path of an HTTP request; permissions are checked only if it is given.',
  },
  method: { kind: 'string', description: 'The method of the request; by default GET.' },
  header: {
    kind: 'strings',
    lengthMax: limits.config.questionLengthMax,
    description: 'A header of the request: `NAME: VALUE`. May be repeated.',
  },
} as const;

export const matchQuery = {
  by: {
    kind: 'string',
    required: true,
    description: '`source`: services that it may call; `destination`: services that may call it.',
  },
  name: {
    kind: 'strings',
    lengthMax: limits.config.questionLengthMax,
    description: 'A service, as in a check. May be repeated.',
  },
} as const;

type Match = Pick<Asked<QueryValues<typeof matchQuery>>, 'namespace' | 'partition' | 'query'>;

/** @throws RosterError `invalid-query` */
export function namesIn(input: Match): readonly (readonly [string, ServiceName])[] {
  const { by, name } = input.query;
  if (by !== 'source' && by !== 'destination') {
    throw refusal('invalid-query', { parameter: 'by', reason: 'must be source or destination' });
  }
  const { matchedMax } = limits.config;
  if (name.length === 0 || name.length > matchedMax) {
    const reason = `must be given 1 to ${matchedMax} times`;
    throw refusal('invalid-query', { parameter: 'name', reason });
  }
  return name.map((text) => [text, serviceIn(input, 'name', text)]);
}

/** @throws RosterError `invalid-query` */
export function serviceIn(
  { namespace, partition }: Pick<Asked, 'namespace' | 'partition'>,
  parameter: string,
  text: string,
): ServiceName {
  const [name = '', space = namespace, part = partition, ...more] = text.split('/').reverse();
  const isNamed = name !== '' && space !== '' && part !== '' && more.length === 0;
  if (isNamed && (name !== everyService || parameter === 'name')) {
    return { name, namespace: space, partition: part };
  }
  const reason = 'must be one service: NAME, NAMESPACE/NAME or PARTITION/NAMESPACE/NAME';
  throw refusal('invalid-query', { parameter, reason });
}

/** The permission to read the intentions of a destination. */
export const readsIntentions = ({ name, namespace, partition }: ServiceName): Permission =>
  namedAccess('intention', 'read', name, { namespace, partition });
const readsDestination = decided(
  '`intention:read` on the destination',
  (asked: Asked<QueryValues<typeof checkQuery>>) =>
    readsIntentions(serviceIn(asked, 'destination', asked.query.destination)),
);
const readsNamed = decided(
  '`intention:read` on each service',
  (asked: Asked<QueryValues<typeof matchQuery>>) =>
    allOf(...namesIn(asked).map(([, one]) => readsIntentions(one))),
);

const seesReadable = decided(
  'nothing: destinations are shown to those who have `intention:read` on them',
  () => open,
);

export const intentionEndpoints = endpoints(
  { group: 'intentions', noun: 'intention', family: 'registry' },
  {
    check: {
      kind: 'read',
      path: '/v1/connect/intentions/check',
      summary: 'Check whether a service may call another one, and why',
      query: checkQuery,
      answer: typed<IntentionCheck>(IntentionCheckSchema),
      permission: readsDestination,
    },
    matrix: {
      kind: 'read',
      path: '/v1/connect/intentions/matrix',
      summary: 'Tell which services may call which, and by which intention',
      blocking: true,
      query: {
        name: {
          kind: 'strings',
          lengthMax: limits.config.questionLengthMax,
          description:
            'A service, as in a check. May be repeated. By default the services of the namespace.',
        },
      },
      answer: typed<IntentionMatrix>(IntentionMatrixSchema),
      permission: seesReadable,
    },
    match: {
      kind: 'read',
      path: '/v1/connect/intentions/match',
      summary: 'List the intentions of a service by precedence',
      blocking: true,
      query: matchQuery,
      answer: typed<IntentionMatch>(IntentionMatchSchema),
      permission: readsNamed,
    },
  },
);
