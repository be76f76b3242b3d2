import type { Namespace, NamespaceWrite } from '../../sdk/client.ts';
import { camelCase, type Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

type Capabilities = NonNullable<Namespace['Capabilities']>;

/** The restrictions of a namespace's jobs: option, field, title and description. */
const kinds = [
  [
    'enabled-driver',
    'EnabledTaskDrivers',
    'Enabled drivers',
    'A driver that its tasks may use, and no other;',
  ],
  [
    'disabled-driver',
    'DisabledTaskDrivers',
    'Disabled drivers',
    'A driver that its tasks may not use;',
  ],
  [
    'enabled-network-mode',
    'EnabledNetworkModes',
    'Enabled network modes',
    'A mode that its networks may have, and no other;',
  ],
  [
    'disabled-network-mode',
    'DisabledNetworkModes',
    'Disabled network modes',
    'A mode that its networks may not have;',
  ],
] as const satisfies readonly (readonly [string, keyof Capabilities, string, string])[];

export const capabilityOptions = kinds.map(([name, , , description]) => ({
  name,
  value: name.endsWith('driver') ? 'DRIVER' : 'MODE',
  isRepeatable: true as const,
  description: `${description} may be repeated.`,
}));

/** The restrictions after a change. Lists that are not given stay. */
export function givenCapabilities(
  options: Options,
  before: Pick<NamespaceWrite, 'Capabilities'>,
): Pick<NamespaceWrite, 'Capabilities'> {
  const given = kinds.flatMap(([name, field]) => {
    const words = options.list(camelCase(name));
    return words.length === 0 ? [] : [[field, words] as const];
  });
  if (given.length === 0) return {};
  return { Capabilities: { ...before.Capabilities, ...Object.fromEntries(given) } };
}

export const capabilityFields = (capabilities: Namespace['Capabilities'] | undefined) =>
  kinds.flatMap(([, field, title]) => {
    const words = capabilities?.[field] ?? [];
    return words.length === 0 ? [] : [[title, words.map(oneLine).join(', ')] as const];
  });
