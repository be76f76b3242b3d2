import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { takesName, templateNamed } from '../templated-policy/templated-policy.ts';
import {
  type Identities,
  isDatacenterName,
  isIdentityName,
  type NodeIdentity,
  type ServiceIdentity,
  type TemplatedPolicyLink,
} from './identities.ts';

const nameRule =
  'must be 1 to 256 characters: lowercase letters, digits, "-" and "_", beginning and ending with a letter or digit';

/**
 * The identities and templates of a token or role, checked, without repetitions and in a fixed order, so that
 * the same set always has the same hash. Source: docs/behaviour/access-control.md#identities.
 */
export function checkedIdentities(
  given: Identities,
  holder: { readonly noun: 'token' | 'role'; readonly isLocal: boolean },
  report: Report,
): Identities {
  const count = (key: string, list: readonly unknown[]) => {
    if (list.length <= limits.acl.linksMax) return;
    report(below(null, key), `must hold at most ${limits.acl.linksMax}`);
  };
  count('ServiceIdentities', given.ServiceIdentities);
  count('NodeIdentities', given.NodeIdentities);
  count('TemplatedPolicies', given.TemplatedPolicies);
  given.ServiceIdentities.forEach((identity, index) => {
    checkService(identity, holder, below(null, 'ServiceIdentities', index), report);
  });
  given.NodeIdentities.forEach((identity, index) => {
    checkNode(identity, below(null, 'NodeIdentities', index), report);
  });
  const templated = given.TemplatedPolicies.map((link, index) =>
    checkTemplated(link, holder, below(null, 'TemplatedPolicies', index), report),
  );
  return {
    ServiceIdentities: mergedServices(given.ServiceIdentities),
    NodeIdentities: distinct(given.NodeIdentities, ({ NodeName, Datacenter }) => [
      NodeName,
      Datacenter,
    ]),
    TemplatedPolicies: distinct(templated, ({ TemplateName, TemplateVariables, Datacenters }) => [
      TemplateName,
      TemplateVariables.name ?? '',
      ...Datacenters,
    ]),
  };
}

interface Holder {
  readonly noun: string;
  readonly isLocal: boolean;
}

function checkService(
  { ServiceName, Datacenters }: ServiceIdentity,
  holder: Holder,
  path: Path,
  report: Report,
): void {
  if (ServiceName === '') report(below(path, 'ServiceName'), `is required in a service identity`);
  else if (!isIdentityName(ServiceName)) report(below(path, 'ServiceName'), nameRule);
  checkDatacenters(Datacenters, holder, path, report);
}

function checkNode({ NodeName, Datacenter }: NodeIdentity, path: Path, report: Report): void {
  if (NodeName === '') report(below(path, 'NodeName'), 'is required in a node identity');
  else if (!isIdentityName(NodeName)) report(below(path, 'NodeName'), nameRule);
  if (Datacenter === '') report(below(path, 'Datacenter'), 'is required in a node identity');
  else if (!isDatacenterName(Datacenter)) report(below(path, 'Datacenter'), datacenterRule);
}

const datacenterRule = 'must be made of letters, digits, "-" and "_"';

function checkDatacenters(
  datacenters: readonly string[],
  { isLocal }: Holder,
  path: Path,
  report: Report,
): void {
  const at = below(path, 'Datacenters');
  if (datacenters.length === 0) return;
  if (isLocal) report(at, 'cannot be given on a local token');
  if (datacenters.length > limits.acl.datacentersMax) {
    report(at, `must hold at most ${limits.acl.datacentersMax} names`);
    return;
  }
  datacenters.forEach((datacenter, index) => {
    if (!isDatacenterName(datacenter)) report(below(at, index), datacenterRule);
  });
}

function checkTemplated(
  link: TemplatedPolicyLink,
  holder: Holder,
  path: Path,
  report: Report,
): TemplatedPolicyLink {
  const template = templateNamed(link.TemplateName);
  if (link.TemplateName === '') report(below(path, 'TemplateName'), 'is required');
  else if (template === undefined) {
    report(below(path, 'TemplateName'), `names no template: ${quote(link.TemplateName)}`);
  }
  checkDatacenters(link.Datacenters, holder, path, report);
  if (template === undefined) return link;
  const at = below(path, 'TemplateVariables');
  // Clients write the variable in either case.
  const { name, Name } = link.TemplateVariables;
  const value = name ?? Name ?? '';
  // A name that the template does not use is dropped.
  if (takesName(template)) {
    if (value === '') report(below(at, 'name'), `is required by ${template.TemplateName}`);
    else if (!isIdentityName(value)) report(below(at, 'name'), nameRule);
  }
  return {
    TemplateID: template.TemplateID,
    TemplateName: template.TemplateName,
    TemplateVariables: takesName(template) ? { name: value } : {},
    Datacenters: [...new Set(link.Datacenters)].sort(),
  };
}

/** Merges the entries of a name. An entry without datacenters holds everywhere, whatever the others say. */
function mergedServices(identities: readonly ServiceIdentity[]): readonly ServiceIdentity[] {
  const byName = new Map<string, Set<string> | 'everywhere'>();
  for (const { ServiceName, Datacenters } of identities) {
    const known = byName.get(ServiceName);
    if (Datacenters.length === 0 || known === 'everywhere') byName.set(ServiceName, 'everywhere');
    else byName.set(ServiceName, new Set([...(known ?? []), ...Datacenters]));
  }
  return [...byName]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([ServiceName, datacenters]) => ({
      ServiceName,
      Datacenters: datacenters === 'everywhere' ? [] : [...datacenters].sort(),
    }));
}

function distinct<T>(items: readonly T[], partsOf: (item: T) => readonly string[]): readonly T[] {
  const byKey = new Map(items.map((item) => [JSON.stringify(partsOf(item)), item]));
  return [...byKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, item]) => item);
}
