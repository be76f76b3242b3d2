import type { Authorizer } from '../acl/authorizer.ts';
import { refusal } from '../model/errors.ts';
import { accessorOf, checkIdempotencyKey } from '../model/kept-answer/kept-answer.ts';
import type { KeyedRequest } from '../server/idempotency/kept-answers.ts';
import { header, type Request } from './http.ts';
import type { Route } from './route.ts';

/**
 * A write with an `Idempotency-Key`; `undefined`: it has none.
 * @throws RosterError `malformed-request`
 */
export function keyedRequest(
  { method, path, endpoint }: Route,
  { caller }: Authorizer,
  request: Request,
): KeyedRequest | undefined {
  const key = header(request, 'idempotency-key');
  if (key === undefined) return undefined;
  const { body = new Uint8Array() } = request;
  return {
    accessor: accessorOf(caller),
    route: `${method} ${path}`,
    key: checkIdempotencyKey(key),
    content: `${request.path}?${request.query}\n${Buffer.from(body).toString('latin1')}`,
    endsTerm: endpoint.endsTerm === true,
  };
}

/**
 * A body that its route reads itself is read once, so its answer is kept under no key. A key without effect would have a
 * repetition run again.
 * @throws RosterError `malformed-request`
 */
export function requireNoKey({ endpoint }: Pick<Route, 'endpoint'>, request: Request): void {
  if (endpoint.body?.isStreamed !== true || header(request, 'idempotency-key') === undefined)
    return;
  const reason =
    'This request takes no Idempotency-Key. If its outcome is unknown, look before you send it again.';
  throw refusal('malformed-request', { reason });
}

/** Whether nobody else is this caller. */
export const isKnown = ({ caller }: Authorizer): boolean =>
  caller.kind !== 'anonymous' && caller.kind !== 'unrestricted';
