import { Choice, Flag, FreeMap, List, type Model, Text, TextMap, Type } from '../schema.ts';

/** The token block. Source: facts/scheduler.md §2.6 "Secrets (token) block". */
export const SecretsSchema = Type.Object({
  Role: Text(),
  Policies: List(Type.String()),
  Namespace: Text(),
  Cluster: Text({ default: 'default' }),
  Env: Flag(true),
  DisableFile: Flag(),
  ChangeMode: Choice(['noop', 'signal', 'restart'], 'restart'),
  ChangeSignal: Text({ default: 'SIGHUP' }),
  AllowTokenExpiration: Flag(),
});
export type Secrets = Model<typeof SecretsSchema>;

/** A secret to fetch before the task starts. Source: facts/scheduler.md §2.6 "Secret-fetch list". */
export const SecretFetchSchema = Type.Object({
  Name: Text(),
  Provider: Text(),
  Path: Text(),
  Config: FreeMap(),
  Env: TextMap(),
});
export type SecretFetch = Model<typeof SecretFetchSchema>;

/** Where a group or task keeps its services. */
export const RegistryBlockSchema = Type.Object({
  Namespace: Text(),
  Cluster: Text({ default: 'default' }),
  Partition: Text(),
});
