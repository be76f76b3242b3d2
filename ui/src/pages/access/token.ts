import type { PresentedAclToken } from '../../../../src/model/acl-token/acl-token.ts';
import type { AclTokenWrite } from '../../../../src/sdk/acl.ts';
import type { Link } from './access.ts';

export type Token = PresentedAclToken;

export interface TokenWords {
  readonly description: string;
  readonly policies: readonly Link[];
  readonly roles: readonly Link[];
  readonly services: readonly string[];
  /** `8h`; empty: never. Of a new token alone. */
  readonly ttl: string;
  readonly isLocal: boolean;
}

/** The body of a write. Fields that the form does not show stay as they are. */
export function tokenBody(before: Token | undefined, words: TokenWords): AclTokenWrite {
  return {
    ...(before !== undefined && {
      NodeIdentities: before.NodeIdentities ?? [],
      TemplatedPolicies: before.TemplatedPolicies ?? [],
      Local: before.Local,
    }),
    ...(before === undefined && {
      Local: words.isLocal,
      ...(words.ttl !== '' && { ExpirationTTL: words.ttl as never }),
    }),
    Description: words.description,
    Policies: words.policies.map(linkBody),
    Roles: words.roles.map(linkBody),
    ServiceIdentities: servicesNamed(before, words.services),
  } as AclTokenWrite;
}

/** Kept links are named by their id: another namespace may have the same name. */
export const linkBody = ({ ID, Name }: Link) =>
  ID !== undefined && ID !== '' ? { ID } : { Name: Name ?? '' };

type Identities = Pick<Token, 'ServiceIdentities'>;

/** The names of the service identities, as a form shows them. */
export const serviceNames = (before: Identities | undefined): string =>
  (before?.ServiceIdentities ?? []).map(({ ServiceName }) => ServiceName).join(', ');

/** The service identities with these names. An identity that was there keeps its datacenters. */
export function servicesNamed(before: Identities | undefined, names: readonly string[]) {
  const kept = (before?.ServiceIdentities ?? []).filter(({ ServiceName }) =>
    names.includes(ServiceName),
  );
  return [
    ...kept,
    ...names
      .filter((name) => !kept.some(({ ServiceName }) => ServiceName === name))
      .map((ServiceName) => ({ ServiceName })),
  ];
}
