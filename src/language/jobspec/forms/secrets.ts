import { body, flag, freeMap, text, textMap, texts } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#tasks. */
export const secrets = body({
  role: text('Role', 'The role of the token.'),
  policies: texts('Policies', 'The policies of the token.'),
  namespace: text('Namespace', 'The namespace of the secrets.'),
  cluster: text('Cluster', 'The cluster of the secrets.'),
  env: flag('Env', 'Whether the token is in the environment.'),
  disable_file: flag('DisableFile', 'Whether the token is not written to a file.'),
  change_mode: text('ChangeMode', 'The action when the token changes.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  allow_token_expiration: flag('AllowTokenExpiration', 'Whether the token is not renewed.'),
});

export const secretFetch = body({
  provider: text('Provider', 'The provider of the secret.'),
  path: text('Path', 'The path of the secret at its provider.'),
  config: freeMap('Config', 'Settings of the provider, kept as they are written.'),
  env: textMap('Env', 'Environment variables of the provider.'),
});

/** The registry of services. */
export const registry = body({
  namespace: text('Namespace', 'The namespace of the services.'),
  cluster: text('Cluster', 'The cluster of registries.'),
  partition: text('Partition', 'The partition of the services.'),
});
