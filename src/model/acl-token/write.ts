import { formatInstant } from '../../base/instant.ts';
import { contentHash } from '../acl-policy/content-hash.ts';
import { checkValues } from '../check-values.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, type Report } from '../path.ts';
import type { Input } from '../schema.ts';
import { type AclToken, type AclTokenInput, AclTokenInputSchema } from './acl-token.ts';
import { checkedIdentities } from './check-identities.ts';
import type { Identities } from './identities.ts';

/** A token as a caller may give it: any field absent. */
export type TokenRequest = Input<AclTokenInput>;

/** The fields of a token that a caller may change. */
export interface TokenContent extends Identities {
  readonly Description: string;
  readonly Policies: AclToken['Policies'];
  readonly Roles: AclToken['Roles'];
  readonly Local: boolean;
}

/**
 * The hash of the changeable fields. No secret goes into it.
 * Source: docs/behaviour/access-control.md#content-hashes.
 */
export const tokenHash = (content: TokenContent): string =>
  contentHash([
    content.Description,
    content.Local ? 'local' : 'global',
    content.Policies.map(({ ID }) => ID),
    content.Roles.map(({ ID }) => ID),
    content.ServiceIdentities,
    content.NodeIdentities,
    content.TemplatedPolicies,
  ]);

/** Reports the faults of one kind of write. */
export type TokenRules = (given: AclTokenInput, report: Report) => void;

/** The faults of the links to policies and roles, which are checked with the state. */
export type LinkFaults = (given: {
  readonly Policies: AclTokenInput['Policies'];
  readonly Roles?: AclTokenInput['Roles'];
}) => readonly Fault[];

/** The parts of a request that are checked without the state. */
export interface CheckedToken {
  readonly given: AclTokenInput;
  readonly identities: Identities;
}

/**
 * The checked request for a new or changed token. `rules` sees the whole request and reports the faults of
 * its own kind of write. A refusal also tells the faults that `linkFaults` finds in the links to policies and
 * roles.
 * @throws RosterError `invalid-body`
 */
export function checkedToken(
  request: TokenRequest,
  rules: TokenRules,
  linkFaults: LinkFaults = () => [],
): CheckedToken {
  const given = complete(AclTokenInputSchema, request);
  const faults: Fault[] = checkValues(AclTokenInputSchema, request);
  const report: Report = (path: Path, message) => faults.push(faultAt(path, message));
  rules(given, report);
  const holder = { noun: 'token', isLocal: given.Local } as const;
  const identities = checkedIdentities(given, holder, report);
  if (faults.length > 0) throw invalid('invalid-body', [...faults, ...linkFaults(given)]);
  return { given, identities };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const reserved = '00000000-0000-0000-0000-0000000000';

export const isUuid = (text: string): boolean => uuid.test(text);

/** Checks an id that the caller made. Source: docs/behaviour/access-control.md#ids-of-tokens. */
export function checkGivenId(text: string, field: string, report: Report): void {
  if (text === '') return;
  if (!isUuid(text)) report(below(null, field), 'must be a UUID');
  else if (text.startsWith(reserved)) {
    report(below(null, field), `must not begin with "${reserved}": such UUIDs are reserved`);
  }
}

/**
 * When the new token expires, in Unix milliseconds; 0 for never.
 * Source: docs/contract/access-control.md#when-a-token-expires.
 */
export function expirationOf(given: AclTokenInput, nowMs: number, report: Report): number {
  const { ExpirationTime, ExpirationTTL } = given;
  const { tokenTtlMinMs, tokenTtlMaxMs } = limits.acl;
  if (ExpirationTTL < 0) report(below(null, 'ExpirationTTL'), 'must be greater than 0');
  if (ExpirationTime !== null && ExpirationTTL !== 0) {
    report(below(null, 'ExpirationTime'), 'cannot be given together with ExpirationTTL');
    return 0;
  }
  if (ExpirationTime === null && ExpirationTTL <= 0) return 0;
  const field = ExpirationTime === null ? 'ExpirationTTL' : 'ExpirationTime';
  const path = below(null, field);
  const atMs = ExpirationTime === null ? nowMs + ExpirationTTL / 1e6 : parseTime(ExpirationTime);
  if (atMs === undefined) {
    report(path, 'must be a time such as "2030-01-31T12:00:00Z"');
    return 0;
  }
  // Clients send the zero time for no time at all.
  if (atMs === 0) return 0;
  // Milliseconds: a time in nanoseconds is too large a number to be exact.
  const leftMs = ExpirationTime === null ? ExpirationTTL / 1e6 : atMs - nowMs;
  const what = field === 'ExpirationTTL' ? '' : ' in the future';
  if (leftMs < 0) report(path, 'must not be before the token is made');
  else if (leftMs < tokenTtlMinMs) {
    report(path, `must be at least ${tokenTtlMinMs / 60_000} minute${what}`);
  } else if (leftMs > tokenTtlMaxMs) {
    report(path, `must be at most ${tokenTtlMaxMs / 3_600_000} hours${what}`);
  }
  return Math.round(atMs);
}

/** `Date` takes the 30th of February for a day in March. */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);

const timePattern = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Unix milliseconds of an RFC 3339 text; 0 for the zero time, `undefined` for any other text. */
export function parseTime(text: string): number | undefined {
  if (!timePattern.test(text)) return undefined;
  if (text.startsWith('0001-01-01T00:00:00')) return 0;
  const ms = Date.parse(text.toUpperCase());
  return Number.isNaN(ms) || !isDay(text.slice(0, 10)) ? undefined : ms;
}

/**
 * The fields that an update would change although they cannot change. An absent field stays as it is, except
 * `Local`, whose absence means false. Source: docs/contract/access-control.md#update-a-token.
 */
export function changedImmutables(
  given: AclTokenInput,
  stored: AclToken,
  secretFits: boolean,
): readonly ('SecretID' | 'AuthMethod' | 'ExpirationTime' | 'Local')[] {
  const { AuthMethod, ExpirationTime, ExpirationTTL, Local } = given;
  // A text that is not a time differs from the stored time, too.
  const isSameTime = ExpirationTime === null || parseTime(ExpirationTime) === stored.ExpirationTime;
  const isKept = {
    SecretID: secretFits,
    AuthMethod: AuthMethod === '' || AuthMethod === stored.AuthMethod,
    ExpirationTime: isSameTime && ExpirationTTL === 0,
    Local: Local === stored.Local,
  };
  const fields = ['SecretID', 'AuthMethod', 'ExpirationTime', 'Local'] as const;
  return fields.filter((field) => !isKept[field]);
}

export const shownTime = (ms: number): string | null => (ms === 0 ? null : formatInstant(ms));
