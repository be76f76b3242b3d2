import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';

export const policyOption: OptionDefinition = {
  name: 'policy',
  value: 'POLICY',
  isRepeatable: true,
  description: 'Id or name of a policy to link; may be repeated.',
};

export const roleOption: OptionDefinition = {
  name: 'role',
  value: 'ROLE',
  isRepeatable: true,
  description: 'Id or name of a role to link; may be repeated.',
};

export const identityOptions: readonly OptionDefinition[] = [
  {
    name: 'service-identity',
    value: 'NAME[:DC,…]',
    isRepeatable: true,
    description: 'A service that it may act as, in all or the named datacenters; may be repeated.',
  },
  {
    name: 'node-identity',
    value: 'NAME:DC',
    isRepeatable: true,
    description: 'A node that it may act as; may be repeated.',
  },
  {
    name: 'templated-policy',
    value: 'TEMPLATE[:NAME]',
    isRepeatable: true,
    description: 'A templated policy, such as builtin/service:web; may be repeated.',
  },
];

export const newName: OptionDefinition = {
  name: 'name',
  value: 'NAME',
  description: 'Its new name. Links to it stay.',
};

export const replaces = `Given fields are replaced, and all others stay. An empty value clears a list: -policy ''.`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const link = (given: string) => (uuid.test(given) ? { ID: given } : { Name: given });

/** The given lists, in the form of the API. A list that was not given is absent. */
export function givenLinks(options: Options) {
  return {
    ...given(options, 'policy', 'Policies', link),
    ...given(options, 'role', 'Roles', link),
    ...given(options, 'serviceIdentity', 'ServiceIdentities', serviceIdentity),
    ...given(options, 'nodeIdentity', 'NodeIdentities', nodeIdentity),
    ...given(options, 'templatedPolicy', 'TemplatedPolicies', templatedPolicy),
  };
}

function given<K extends string, T>(
  options: Options,
  option: string,
  field: K,
  parse: (text: string) => T,
): { readonly [F in K]?: readonly T[] } {
  const texts = options.list(option);
  if (texts.length === 0) return {};
  return { [field]: texts.filter((text) => text !== '').map(parse) } as { [F in K]: T[] };
}

function serviceIdentity(text: string) {
  const [ServiceName = '', datacenters = ''] = split(text);
  return { ServiceName, Datacenters: datacenters.split(',').filter(Boolean) };
}

function nodeIdentity(text: string) {
  const [NodeName = '', Datacenter = ''] = split(text);
  if (Datacenter === '') {
    throw new CliError(`--node-identity must be NAME:DATACENTER, got "${text}".`);
  }
  return { NodeName, Datacenter };
}

function templatedPolicy(text: string) {
  const [TemplateName = '', name = ''] = split(text);
  return { TemplateName, ...(name !== '' && { TemplateVariables: { name } }) };
}

/** Splits at the first colon. */
function split(text: string): readonly string[] {
  const at = text.indexOf(':');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
