import type { Fault } from '../errors.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { isPattern } from '../text-rules.ts';
import { everyService } from './config-entry.ts';
import { faultsOf } from './faults.ts';
import {
  type IntentionJwt,
  type IntentionPermission,
  type IntentionSource,
  nameOf,
  type PermissionHeader,
  type PermissionHttp,
} from './intention.ts';
import { givenTests, pathFaults } from './path-faults.ts';
import { noSamenessGroups } from './sameness.ts';
import { checkTokenRequirements } from './token-requirements.ts';

interface Intentions {
  readonly Name: string;
  readonly Sources: readonly IntentionSource[] | null;
  readonly JWT: IntentionJwt | null;
}

/** The faults of intentions by themselves. Source: docs/behaviour/intentions.md#sources. */
export function intentionFaults({ Name, Sources, JWT }: Intentions): readonly Fault[] {
  const path = below(null, 'Sources');
  const faults: Fault[] = [];
  if (Sources === null) faults.push(faultAt(path, 'must have at least one source'));
  const seen = new Set<string>();
  (Sources ?? []).forEach((source, index) => {
    const at = below(path, index);
    faults.push(...sourceFaults(source, Name, at));
    const name = nameOf(source);
    if (seen.has(name))
      faults.push(faultAt(at, `names ${quote(source.Name)}, which has a source before`));
    seen.add(name);
  });
  if (JWT !== null) faults.push(...jwtFaults(JWT, below(null, 'JWT')));
  return faults;
}

function sourceFaults(source: IntentionSource, destination: string, path: Path): Fault[] {
  const { Name, Namespace, Peer, Partition, SamenessGroup, Action, Permissions } = source;
  const faults = noSamenessGroups(SamenessGroup, path);
  const fault = (field: string, message: string) =>
    faults.push(faultAt(below(path, field), message));
  if (Name === '') fault('Name', 'is required');
  if (Namespace === everyService && Name !== everyService) {
    fault('Name', 'must be "*" for every namespace');
  }
  if (Peer !== '' && Partition !== '') fault('Peer', 'must not be given together with Partition');
  for (const [field, value] of Object.entries({ Peer, Partition })) {
    if (value === everyService) fault(field, 'must be a single name, not "*"');
  }
  if (Action === '' && Permissions === null) fault('Action', 'is required: "allow" or "deny"');
  if (Action !== '' && Permissions !== null) {
    fault('Action', 'must not be given together with Permissions, which have actions of their own');
  }
  if (Permissions !== null && destination === everyService) {
    fault('Permissions', 'must not be given for "*": services may speak anything');
  }
  (Permissions ?? []).forEach((permission, index) => {
    faults.push(...permissionFaults(permission, below(path, 'Permissions', index)));
  });
  return faults;
}

function permissionFaults({ Action, HTTP, JWT }: IntentionPermission, path: Path): Fault[] {
  const faults: Fault[] = [];
  if (Action === '') {
    faults.push(faultAt(below(path, 'Action'), 'is required: "allow" or "deny"'));
  }
  const isEmpty = HTTP === null || isWithoutRules(HTTP);
  if (isEmpty && JWT === null) {
    faults.push(
      faultAt(
        below(path, 'HTTP'),
        'must test the path, a header or the method: without a test it fits every request',
      ),
    );
  }
  if (HTTP !== null) faults.push(...httpFaults(HTTP, below(path, 'HTTP')));
  if (JWT !== null) faults.push(...jwtFaults(JWT, below(path, 'JWT')));
  return faults;
}

const isWithoutRules = (http: PermissionHttp) =>
  givenTests(http).length === 0 && http.Header === null && http.Methods === null;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'];

function httpFaults(http: PermissionHttp, path: Path): Fault[] {
  const { Header, Methods } = http;
  const faults: Fault[] = [];
  if (givenTests(http).length > 1) {
    faults.push(faultAt(path, 'must have at most one of PathExact, PathPrefix and PathRegex'));
  }
  faults.push(...pathFaults(http, path));
  (Header ?? []).forEach((header, index) => {
    faults.push(...headerFaults(header, below(path, 'Header', index)));
  });
  (Methods ?? []).forEach((method, index) => {
    const at = below(path, 'Methods', index);
    if (!methods.includes(method)) {
      faults.push(faultAt(at, `must be one of ${methods.join(', ')}, got ${quote(method)}`));
    } else if (Methods!.indexOf(method) < index) {
      faults.push(faultAt(at, `${quote(method)} is given twice`));
    }
  });
  return faults;
}

const headerTests = ['Present', 'Exact', 'Prefix', 'Suffix', 'Contains', 'Regex'] as const;

function headerFaults(header: PermissionHeader, path: Path): Fault[] {
  const faults: Fault[] = [];
  if (header.Name === '') faults.push(faultAt(below(path, 'Name'), 'is required'));
  const given = headerTests.filter((test) => header[test] !== '' && header[test] !== false);
  if (given.length !== 1) {
    faults.push(faultAt(path, `must have exactly one of ${headerTests.join(', ')}`));
  }
  if (!isPattern(header.Regex)) {
    faults.push(faultAt(below(path, 'Regex'), 'is no valid pattern'));
  }
  if (header.IgnoreCase && (header.Present || header.Regex !== '')) {
    faults.push(faultAt(below(path, 'IgnoreCase'), 'must not be set with Present or Regex'));
  }
  return faults;
}

const jwtFaults = (jwt: IntentionJwt, path: Path): Fault[] =>
  faultsOf((report) => checkTokenRequirements(jwt, path, report));
