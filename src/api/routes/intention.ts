import type { DefaultPolicy } from '../../acl/authorizer.ts';
import type { Steps } from '../../base/steps.ts';
import {
  type checkQuery,
  intentionEndpoints as contract,
  type matchQuery,
  namesIn,
  serviceIn,
} from '../../contract/intention.ts';
import {
  type ShownIntention,
  shownDecision,
  shownIntention,
} from '../../model/config-entry/intention-answers.ts';
import { type Caller, decideIntention } from '../../model/config-entry/intention-decision.ts';
import type { HttpRequest } from '../../model/config-entry/permission-match.ts';
import { refusal } from '../../model/errors.ts';
import {
  intentionsFrom,
  intentionsOf,
  intentionsTo,
} from '../../server/config-entries/intentions.ts';
import type { Input, Route } from '../route.ts';
import { serveRead, serveSteps } from '../serve.ts';
import { matrixOf } from './intention-matrix.ts';

type Check = Input<typeof checkQuery>;
type Match = Input<typeof matchQuery>;

/** Source: docs/behaviour/intentions.md#asking-about-intentions. */
export function intentionRoutes(defaultPolicy: DefaultPolicy): Route[] {
  const defaultAllows = defaultPolicy === 'allow';
  return [
    ...serveRead(contract.check, (input) => {
      const { snapshot, query } = input;
      const caller = { ...serviceIn(input, 'source', query.source), peer: query.source_peer };
      const entries = intentionsOf(snapshot, serviceIn(input, 'destination', query.destination));
      const request = requestIn(query);
      const decision = decideIntention({ caller, entries, request, defaultAllows });
      return shownDecision(decision, defaultAllows);
    }),
    ...serveSteps(contract.match, matches),
    ...serveSteps(contract.matrix, (input) => matrixOf(input, defaultAllows)),
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
