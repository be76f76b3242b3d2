import { createHash } from 'node:crypto';
import type { AclPolicy } from '../acl-policy/acl-policy.ts';
import { contentHash } from '../acl-policy/content-hash.ts';
import type { Identities } from '../acl-token/identities.ts';
import type { Scope } from '../namespace/namespace.ts';
import { renderTemplate, templateNamed } from './templated-policy.ts';

const service = templateNamed('builtin/service')!;
const node = templateNamed('builtin/node')!;

/**
 * The policies for the identities and templates of a token or role, in the order of the fields. They are not
 * stored: the same rules in the same place always give the same policy.
 * Source: docs/behaviour/access-control.md#identities.
 */
export function syntheticPolicies(holder: Identities, scope: Scope): readonly AclPolicy[] {
  return [
    ...holder.ServiceIdentities.map(({ ServiceName, Datacenters }) =>
      syntheticPolicy(
        `synthetic policy for service identity "${ServiceName}"`,
        renderTemplate(service, ServiceName),
        Datacenters,
        scope,
      ),
    ),
    ...holder.NodeIdentities.map(({ NodeName, Datacenter }) =>
      syntheticPolicy(
        `synthetic policy for node identity "${NodeName}"`,
        renderTemplate(node, NodeName),
        [Datacenter],
        scope,
      ),
    ),
    ...holder.TemplatedPolicies.flatMap(({ TemplateName, TemplateVariables, Datacenters }) => {
      const template = templateNamed(TemplateName);
      // A template that a later version no longer has grants nothing.
      if (template === undefined) return [];
      const rules = renderTemplate(template, TemplateVariables.name ?? '');
      return [templatedPolicy(TemplateName, rules, Datacenters, scope)];
    }),
  ];
}

/** The policy of a template, with the name filled in. */
export const templatedPolicy = (
  templateName: string,
  rules: string,
  datacenters: readonly string[],
  scope: Scope,
): AclPolicy =>
  syntheticPolicy(
    `synthetic policy generated from templated policy: ${templateName}`,
    rules,
    datacenters,
    scope,
  );

function syntheticPolicy(
  Description: string,
  Rules: string,
  datacenters: readonly string[],
  { namespace, partition }: Scope,
): AclPolicy {
  const Datacenters = datacenters.length === 0 ? null : datacenters;
  const ID = createHash('sha256')
    .update(JSON.stringify([Rules, Datacenters, partition, namespace]))
    .digest('hex')
    .slice(0, 32);
  const Name = `synthetic-policy-${ID}`;
  return {
    ID,
    Name,
    Description,
    Rules,
    Datacenters,
    JobACL: null,
    Hash: contentHash([Name, Description, Rules, Datacenters]),
    Namespace: namespace,
    Partition: partition,
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}
