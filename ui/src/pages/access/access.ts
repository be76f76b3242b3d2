/** Common to the pages of access control: where a record is, and how its links read. */
import { href } from '../../app/router.svelte.ts';
import { scope } from '../../app/scope.svelte.ts';

interface Placed {
  readonly Namespace?: string;
  readonly Partition?: string;
}

const defaultPlace = 'default';

/** The place of the record of a page, which stands in its address. */
export const here = (): { readonly namespace: string; readonly partition: string } => ({
  namespace: scope.writeNamespace,
  partition: scope.partition,
});

/** Of a record, or of a new one, which is made where the page is. */
export const placeOf = (before: { Namespace: string; Partition: string } | undefined) =>
  before === undefined ? here() : { namespace: before.Namespace, partition: before.Partition };

/** Records are read in their own namespace. */
export const placeQuery = ({ Namespace, Partition }: Placed) => ({
  namespace: Namespace || defaultPlace,
  partition: Partition === undefined || Partition === defaultPlace ? undefined : Partition,
});

export const tokenHref = (token: Placed & { readonly AccessorID: string }): string =>
  href('/access/tokens/:id', { id: token.AccessorID }, placeQuery(token));
export const roleHref = (role: Placed & { readonly ID: string }): string =>
  href('/access/roles/:id', { id: role.ID }, placeQuery(role));
export const policyHref = (policy: Placed & { readonly ID: string }, line?: number): string =>
  href('/access/policies/:id', { id: policy.ID }, { ...placeQuery(policy), line });
export const methodHref = (method: Placed & { readonly Name: string }): string =>
  href('/access/methods/:name', { name: method.Name }, placeQuery(method));

export interface Link {
  readonly ID?: string;
  readonly Name?: string;
}

/** The links of a token or a role that are not policies or roles, in words. */
export function identityWords(holder: {
  readonly ServiceIdentities?: readonly {
    readonly ServiceName: string;
    readonly Datacenters?: readonly string[] | null;
  }[];
  readonly NodeIdentities?: readonly { readonly NodeName: string; readonly Datacenter: string }[];
  readonly TemplatedPolicies?: readonly {
    readonly TemplateName: string;
    readonly TemplateVariables?: Readonly<Record<string, string>> | null;
  }[];
}): readonly string[] {
  return [
    ...(holder.ServiceIdentities ?? []).map(({ ServiceName, Datacenters }) =>
      (Datacenters ?? []).length > 0
        ? `service ${ServiceName} in ${Datacenters!.join(', ')}`
        : `service ${ServiceName}`,
    ),
    ...(holder.NodeIdentities ?? []).map(
      ({ NodeName, Datacenter }) => `node ${NodeName} in ${Datacenter}`,
    ),
    ...(holder.TemplatedPolicies ?? []).map(({ TemplateName, TemplateVariables }) =>
      [TemplateName, TemplateVariables?.name].filter(Boolean).join(' '),
    ),
  ];
}

/** The chosen links, and the name that is typed and not added yet: nothing that a reader typed is lost. */
export function withTyped(links: readonly Link[], typed: string): readonly Link[] {
  const name = typed.trim();
  if (name === '' || links.some((link) => link.Name === name)) return links;
  return [...links, { Name: name }];
}

/** Words with commas or spaces between them. */
export const wordsIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((word) => word !== '');

export const managementPolicyId = '00000000-0000-0000-0000-000000000001';
export const readOnlyPolicyId = '00000000-0000-0000-0000-000000000002';
export const anonymousAccessorId = '00000000-0000-0000-0000-000000000002';
const builtinPolicyNames = ['global-management', 'builtin/global-read-only'];
export const isBuiltin = ({ ID, Name }: { readonly ID: string; readonly Name: string }): boolean =>
  ID === managementPolicyId || ID === readOnlyPolicyId || builtinPolicyNames.includes(Name);

/** Rules of a template, without the indentation that all of their lines have. */
export function outdented(text: string): string {
  const [first = '', ...rest] = text
    .replace(/^\s*\n/, '')
    .trimEnd()
    .split('\n');
  const depths = rest.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const depth = Math.min(...depths);
  return [first.trimStart(), ...rest.map((line) => line.slice(depth))].join('\n');
}

/** Where the lists of access control look. */
export const listed = () => ({ namespace: scope.namespace, partition: scope.partition });
export const listedFlags = (): readonly string[] => ['-namespace', scope.namespace];
/** Of the pages below "Access". */
export const accessCrumb = { title: 'Access', href: href('/access/tokens') };
