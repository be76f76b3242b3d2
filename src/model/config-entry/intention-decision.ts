/**
 * Whether a service may call another service, and why. Pure. Source: docs/behaviour/intentions.md#decisions.
 *
 * Invariants
 *
 *  I1. Of all intentions that fit, the intention of the greatest precedence decides. There is only one:
 *      the destination and the asterisks of the source give the precedence, and an entry has a source once.
 *  I2. Of its permissions the first that fits the request decides. The default decides if no permission
 *      fits, and if there is no intention.
 *  I3. Without a request, permissions allow nothing. So a mere connection is denied.
 */
import { everyService } from './config-entry.ts';
import type { IntentionSource } from './intention.ts';
import { type HttpRequest, permissionFits } from './permission-match.ts';
import type { ServiceIntentions } from './service-intentions.ts';

/** The calling service. */
export interface Caller {
  readonly partition: string;
  readonly namespace: string;
  readonly name: string;
  /** The peer of the service; '': the service is of this cluster. */
  readonly peer: string;
}

/** A source of an entry, with the destination. */
export interface Intention {
  readonly entry: ServiceIntentions;
  readonly source: IntentionSource;
}

export interface IntentionDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** The intention that decided; `undefined`: the default decided. */
  readonly intention: Intention | undefined;
  /** The index of the permission that decided. */
  readonly permission: number | undefined;
}

export interface IntentionQuestion {
  readonly caller: Caller;
  /** The entry of the destination, and the `*` entry of its namespace. */
  readonly entries: readonly ServiceIntentions[];
  readonly request: HttpRequest | undefined;
  readonly defaultAllows: boolean;
}

export function decideIntention(question: IntentionQuestion): IntentionDecision {
  const { caller, entries, request, defaultAllows } = question;
  const intention = intentionFor(caller, entries);
  const byDefault = `the default policy of access control ${verb(defaultAllows)} it`;
  const nothing = { intention: undefined, permission: undefined };
  if (intention === undefined) {
    return { ...nothing, allowed: defaultAllows, reason: `No intention fits; ${byDefault}.` };
  }
  const { source } = intention;
  const what = describeIntention(intention);
  const decided = { intention, permission: undefined };
  const permissions = source.Permissions;
  if (permissions === null) {
    const allowed = source.Action === 'allow';
    const reason = `${what} ${verb(allowed)} it.`;
    return { ...decided, allowed, reason };
  }
  if (request === undefined) {
    const reason = `${what} decides request by request, and none is given: its permissions are about paths, methods and headers.`;
    return { ...decided, allowed: false, reason };
  }
  const at = permissions.findIndex((permission) => permissionFits(permission, request));
  if (at < 0) {
    const reason = `${what} has no permission that fits the request; ${byDefault}.`;
    return { ...decided, allowed: defaultAllows, reason };
  }
  const permission = permissions[at]!;
  const allowed = permission.Action === 'allow';
  const reason = `${what} ${verb(allowed)} it by its permission ${at + 1} of ${permissions.length}.`;
  return { ...decided, allowed, reason, permission: at };
}

/** The intention that decides: the first that fits, by precedence. */
export function intentionFor(
  caller: Caller,
  entries: readonly ServiceIntentions[],
): Intention | undefined {
  let found: Intention | undefined;
  for (const entry of entries) {
    for (const source of entry.Sources ?? []) {
      if (!isOf(source, caller)) continue;
      if (source.Precedence > (found?.source.Precedence ?? 0)) found = { entry, source };
    }
  }
  return found;
}

export function isOf(source: IntentionSource, caller: Caller): boolean {
  if (source.Peer !== caller.peer) return false;
  if (caller.peer === '' && source.Partition !== caller.partition) return false;
  if (source.Namespace !== everyService && source.Namespace !== caller.namespace) return false;
  return source.Name === everyService || source.Name === caller.name;
}

const verb = (allows: boolean): string => (allows ? 'allows' : 'denies');

function describeIntention({ entry, source }: Intention): string {
  const peer = source.Peer === '' ? '' : ` of the peer "${source.Peer}"`;
  return `The intention from "${source.Name}"${peer} to "${entry.Name}" of precedence ${source.Precedence}`;
}
