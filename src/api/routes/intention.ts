import type { DefaultPolicy } from '../../acl/authorizer.ts';
import type { Steps } from '../../base/steps.ts';
import { everyService } from '../../model/config-entry/config-entry.ts';
import {
  IntentionCheckSchema,
  IntentionMatchSchema,
  type ShownIntention,
  shownDecision,
  shownIntention,
} from '../../model/config-entry/intention-answers.ts';
import { type Caller, decideIntention } from '../../model/config-entry/intention-decision.ts';
import type { ServiceName } from '../../model/config-entry/kind.ts';
import type { HttpRequest } from '../../model/config-entry/permission-match.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { allOf, namedAccess, type Permission } from '../../model/permission/permission.ts';
import {
  intentionsFrom,
  intentionsOf,
  intentionsTo,
} from '../../server/config-entries/intentions.ts';
import { type Input, longReadRoute, type Route, readRoute, type Scope } from '../route.ts';

const [family, noun] = ['registry', 'intention'] as const;

const service = (description: string) =>
  ({
    kind: 'string',
    required: true,
    lengthMax: limits.config.questionLengthMax,
    description: `${description}: NAME, NAMESPACE/NAME or PARTITION/NAMESPACE/NAME.`,
  }) as const;

const checkQuery = {
  source: service('The service that calls'),
  destination: service('The service that is called'),
  source_peer: { kind: 'string', default: '', description: 'The peer that the source is of.' },
  path: {
    kind: 'string',
    lengthMax: limits.config.questionLengthMax,
    description: 'Of a request: permissions are only asked with one.',
  },
  method: { kind: 'string', description: 'Of the request; GET when absent.' },
  header: {
    kind: 'strings',
    lengthMax: limits.config.questionLengthMax,
    description: 'A header of the request: `NAME: VALUE`. May be repeated.',
  },
} as const;

const matchQuery = {
  by: {
    kind: 'string',
    required: true,
    description: '`source`: what the service may call; `destination`: who may call it.',
  },
  name: {
    kind: 'strings',
    lengthMax: limits.config.questionLengthMax,
    description: 'A service, as in a check. May be repeated.',
  },
} as const;

type Check = Input<typeof checkQuery>;
type Match = Input<typeof matchQuery>;

const reads = ({ name, namespace, partition }: ServiceName): Permission =>
  namedAccess('intention', 'read', name, { namespace, partition });

/**
 * Whether services may call each other.
 * Source: docs/behaviour/intentions.md#asking-about-intentions.
 */
export function intentionRoutes(defaultPolicy: DefaultPolicy): Route[] {
  const defaultAllows = defaultPolicy === 'allow';
  return [
    readRoute({
      ...{ method: 'GET', path: '/v1/connect/intentions/check', noun, family, query: checkQuery },
      summary: 'Say whether one service may call another one, and why',
      answer: IntentionCheckSchema,
      permission: (input: Check) => reads(serviceIn(input, 'destination', input.query.destination)),
      handle: (input: Check) => {
        const { snapshot, query } = input;
        const caller = { ...serviceIn(input, 'source', query.source), peer: query.source_peer };
        const entries = intentionsOf(snapshot, serviceIn(input, 'destination', query.destination));
        const request = requestIn(query);
        const decision = decideIntention({ caller, entries, request, defaultAllows });
        return shownDecision(decision, defaultAllows);
      },
    }),
    longReadRoute({
      ...{ method: 'GET', path: '/v1/connect/intentions/match', noun, family, query: matchQuery },
      summary: 'List the intentions that are of a service, what decides first before the others',
      blocking: true,
      answer: IntentionMatchSchema,
      permission: (input: Match) => allOf(...namesIn(input).map(([, one]) => reads(one))),
      steps: matches,
    }),
  ];
}

function* matches(input: Match): Steps<Record<string, ShownIntention[]>> {
  const found: [string, ShownIntention[]][] = [];
  for (const [text, named] of namesIn(input)) {
    const caller: Caller = { ...named, peer: '' };
    const intentions =
      input.query.by === 'source'
        ? yield* intentionsFrom(input.snapshot, caller)
        : intentionsTo(input.snapshot, named);
    found.push([text, intentions.map(shownIntention)]);
    yield;
  }
  return Object.fromEntries(found);
}

function namesIn(input: Match): readonly (readonly [string, ServiceName])[] {
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
function serviceIn(
  { namespace, partition }: Pick<Scope, 'namespace' | 'partition'>,
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

/** @throws RosterError `invalid-query` */
function requestIn({ path, method, header }: Check['query']): HttpRequest | undefined {
  if (path === undefined && method === undefined && header.length === 0) return undefined;
  const headers = header.map((text) => {
    const at = text.indexOf(':');
    if (at > 0) return [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()] as const;
    throw refusal('invalid-query', { parameter: 'header', reason: 'must be NAME: VALUE' });
  });
  return { path: path || '/', method: (method || 'GET').toUpperCase(), headers: new Map(headers) };
}
