import { refusal } from '../model/errors.ts';
import { everyNamespace } from '../model/namespace/namespace.ts';
import type { Caller } from '../model/permission/caller.ts';
import {
  type Access,
  allOf,
  anyOf,
  type Extent,
  management,
  type NamedAccess,
  type NamedResource,
  namedAccess,
  open,
  type Permission,
  type Resource,
  resourceAccess,
} from '../model/permission/permission.ts';

/**
 * The permission of an endpoint: a form with gaps that the request fills. Where it depends on
 * stored rows or on the whole body, a named function decides.
 */
export type Needs = PermissionForm | Decided;

export type PermissionForm =
  | { readonly kind: 'open' }
  | { readonly kind: 'management' }
  | {
      readonly kind: 'namespace';
      readonly capability: string;
      readonly namespace: FromRequest;
      readonly partition?: FromRequest;
    }
  | {
      readonly kind: 'resource';
      readonly resource: Resource;
      readonly access: Access;
      readonly namespace?: FromRequest;
      readonly partition?: FromRequest;
    }
  | {
      readonly kind: 'named';
      readonly resource: NamedResource;
      readonly access: NamedAccess;
      /** `''` for extents of many names. */
      readonly name: FromPart | '';
      readonly extent?: Extent;
      readonly namespace?: FromRequest;
      readonly partition?: FromRequest;
    }
  | { readonly kind: 'own-node'; readonly nodeId: FromPart }
  | { readonly kind: 'node-introduction' }
  | { readonly kind: 'any'; readonly of: readonly PermissionForm[] }
  | { readonly kind: 'all'; readonly of: readonly PermissionForm[] }
  /**
   * With `namespace=*` no permission is needed, and each record is checked instead (`visible.ts`).
   */
  | { readonly kind: 'listing'; readonly of: PermissionForm }
  /** When access control is off, the endpoint answers 401 `acl-disabled`. */
  | { readonly kind: 'access-control'; readonly of: PermissionForm };

/** The namespace or partition of the request; in the `visible` of a list, of the record. */
type FromRequest = 'from-request' | 'from-row';
/** A parameter of the path, or a field of the body or the record; `from-body:Node.ID` is a nested one. */
type FromPart = `from-path:${string}` | `from-body:${string}` | `from-row:${string}`;

/** The parsed request, before its permission is checked. */
export interface Asked<Q = unknown, B = unknown> {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly namespace: string;
  readonly partition: string;
  readonly caller: Caller;
  readonly allows: (permission: Permission) => boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of request and rows belong to the endpoint.
export interface Decided<A = any, F = any> {
  readonly kind: 'decided';
  /** The decision in words, for documents. */
  readonly says: string;
  /** `found`: the rows that the decision depends on. The server looks them up (`FoundOf`). */
  readonly decide: (asked: A, found: F) => Permission;
}

/** A row whose namespace a permission depends on. */
export interface InNamespace {
  readonly Namespace: string;
}

/** The rows that the server looks up for the decision; `undefined`: none. */
export type FoundOf<E> = E extends { readonly permission: Decided<never, infer F> }
  ? unknown extends F
    ? undefined
    : F
  : undefined;

export const decided = <A, F = undefined>(
  says: string,
  decide: (asked: A, found: F) => Permission,
): Decided<A, F> => ({ kind: 'decided', says, decide });

export const nothing = { kind: 'open' } as const satisfies PermissionForm;
export const mayAnything = { kind: 'management' } as const satisfies PermissionForm;

/** The capability in the namespace of the request. */
export const capability = (name: string): PermissionForm => ({
  kind: 'namespace',
  capability: name,
  namespace: 'from-request',
});

export const either = (...of: readonly PermissionForm[]): PermissionForm => ({ kind: 'any', of });
export const every = (...of: readonly PermissionForm[]): PermissionForm => ({ kind: 'all', of });
export const listing = (of: PermissionForm): PermissionForm => ({ kind: 'listing', of });
export const underAccessControl = (of: PermissionForm): PermissionForm => ({
  kind: 'access-control',
  of,
});

/** `submit-job`, or one of the capabilities that it includes. */
export const submitOr = (...parts: readonly string[]): PermissionForm =>
  either(...['submit-job', ...parts].map(capability));

export const resource = (
  name: Resource,
  access: Access,
  place: { readonly namespace?: FromRequest; readonly partition?: FromRequest } = {},
): PermissionForm => ({ kind: 'resource', resource: name, access, ...place });

/** @throws RosterError `acl-disabled` when access control is off */
export function requireAcl({ caller }: { readonly caller: Caller }): void {
  if (caller.kind === 'unrestricted') throw refusal('acl-disabled');
}

/** The permission of a request. The form is analysed once, not for each request. */
export function permissionBy(form: PermissionForm): (asked: Asked) => Permission {
  switch (form.kind) {
    case 'open':
      return () => open;
    case 'management':
      return () => management;
    case 'namespace':
      return inNamespaceBy(form);
    case 'resource': {
      const everywhere = resourceAccess(form.resource, form.access);
      if (!form.namespace && !form.partition) return () => everywhere;
      return (asked) => resourceAccess(form.resource, form.access, placeIn(form, asked));
    }
    case 'named': {
      const name = form.name === '' ? () => '' : partBy(form.name);
      const { extent } = form;
      return (asked) =>
        namedAccess(form.resource, form.access, name(asked), {
          ...placeIn(form, asked),
          ...(extent && { extent }),
        });
    }
    case 'own-node': {
      const nodeId = partBy(form.nodeId);
      return (asked) => ({ kind: 'own-node', nodeId: nodeId(asked) });
    }
    case 'node-introduction':
      return () => ({ kind: 'node-introduction' });
    default:
      return permissionByParts(form);
  }
}

/** Requests for the same namespace get the same permission, so that the decision on it can be kept. */
function inNamespaceBy({ capability, partition: inPartition }: NamespaceForm) {
  let last: (Permission & { readonly kind: 'namespace' }) | undefined;
  return ({ namespace, partition }: Asked): Permission => {
    const isLast = last?.namespace === namespace && (!inPartition || last.partition === partition);
    if (!isLast) {
      const kind = 'namespace';
      last = { kind, namespace, capability, ...(inPartition && { partition }) };
    }
    return last!;
  };
}

type NamespaceForm = PermissionForm & { readonly kind: 'namespace' };
type Compound = Extract<PermissionForm, { readonly of: unknown }>;

function permissionByParts(form: Compound): (asked: Asked) => Permission {
  if (form.kind === 'listing') {
    const inOne = permissionBy(form.of);
    return (asked) => (asked.namespace === everyNamespace ? open : inOne(asked));
  }
  if (form.kind === 'access-control') {
    const whenOn = permissionBy(form.of);
    return (asked) => {
      requireAcl(asked);
      return whenOn(asked);
    };
  }
  const parts = form.of.map(permissionBy);
  const join = form.kind === 'any' ? anyOf : allOf;
  return (asked) => join(...parts.map((part) => part(asked)));
}

const placeIn = (
  form: { readonly namespace?: FromRequest; readonly partition?: FromRequest },
  { namespace, partition }: Asked,
) => ({ ...(form.namespace && { namespace }), ...(form.partition && { partition }) });

function partBy(from: FromPart): (asked: Asked) => string {
  const at = from.indexOf(':');
  const names = from.slice(at + 1).split('.');
  const isInPath = from.startsWith('from-path:');
  return ({ parameters, body }) => {
    let part: unknown = isInPath ? parameters : body;
    for (const name of names) part = (part as Readonly<Record<string, unknown>> | null)?.[name];
    return typeof part === 'string' ? part : '';
  };
}

/** `namespace:submit-job` or `namespace:register-job` */
export function describeNeeds(needs: Needs): string {
  switch (needs.kind) {
    case 'open':
      return 'nothing';
    case 'management':
      return 'a management token';
    case 'namespace':
      return `\`namespace:${needs.capability}\``;
    case 'resource':
      return `\`${needs.resource}:${needs.access}\``;
    case 'named':
      return `\`${needs.resource}:${needs.access}\`${extents[needs.extent ?? 'one']}`;
    case 'own-node':
      return 'the secret of the node itself';
    case 'node-introduction':
      return 'an introduction token';
    case 'any':
      return needs.of.map(describeNeeds).join(' or ');
    case 'all':
      return needs.of.map(describeNeeds).join(' and ');
    case 'listing':
      return `${describeNeeds(needs.of)}; with \`namespace=*\` each record is shown to whom it may be`;
    case 'access-control':
      return `${describeNeeds(needs.of)}; access control has to be on`;
    case 'decided':
      return needs.says;
  }
}

const extents: Readonly<Record<Extent, string>> = {
  one: '',
  any: ' on any',
  every: ' on every one',
  under: ' on every one whose name begins so',
};
