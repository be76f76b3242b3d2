import type { ConfigEntry, ConfigKindName } from '../../model/config-entry/config-entry.ts';
import type { Stamps } from '../types.ts';
import { scopeOf, table } from './definition.ts';

/** The sealed secret of an entry, in its own row, so that sealing it anew does not change the entry. */
export interface ConfigSecret extends Stamps {
  readonly Partition: string;
  readonly Namespace: string;
  readonly Kind: ConfigKindName;
  readonly Name: string;
  readonly Sealed: string;
}

/** A reference of the entry `From` to a service or to another entry. It is deleted with `From`. */
export interface ConfigReference extends Stamps {
  readonly Partition: string;
  readonly Namespace: string;
  readonly Kind: ConfigKindName | 'service';
  readonly Name: string;
  readonly From: {
    readonly Partition: string;
    readonly Namespace: string;
    readonly Kind: ConfigKindName;
    readonly Name: string;
  };
}

/** Configuration entries of all kinds, without their secrets. */
export const configEntries = table<ConfigEntry>({
  name: 'config-entries',
  version: 1,
  scopeParts: 3,
  key: (entry) => [...scopeOf(entry), entry.Kind, entry.Name],
  indexes: {},
});

export const configSecrets = table<ConfigSecret>({
  name: 'config-secrets',
  version: 1,
  key: (secret) => [...scopeOf(secret), secret.Kind, secret.Name],
  indexes: {},
});

export const configReferences = table<ConfigReference>({
  name: 'config-references',
  version: 1,
  key: (reference) => {
    const { Kind, Name, From } = reference;
    return [...scopeOf(reference), Kind, Name, ...scopeOf(From), From.Kind, From.Name];
  },
  indexes: {},
});
