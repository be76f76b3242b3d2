import { body, flag, freeMap, text, textMap, texts } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#tasks. */
export const secrets = body({
  role: text('Role', 'The role that the token is made from.'),
  policies: texts('Policies', 'The policies of the token.'),
  namespace: text('Namespace', 'The namespace of the secrets.'),
  cluster: text('Cluster', 'The cluster of the secrets.'),
  env: flag('Env', 'Give the token to the task as an environment variable.'),
  disable_file: flag('DisableFile', 'Write no file with the token.'),
  change_mode: text('ChangeMode', 'What happens to the task when the token changes.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  allow_token_expiration: flag('AllowTokenExpiration', 'The token is not renewed.'),
});

export const secretFetch = body({
  provider: text('Provider', 'Who has the secret.'),
  path: text('Path', 'Where it is there.'),
  config: freeMap('Config', 'For the provider; kept as it is written.'),
  env: textMap('Env', 'Environment variables of the provider.'),
});

/** The registry of services. */
export const registry = body({
  namespace: text('Namespace', 'The namespace of the services.'),
  cluster: text('Cluster', 'The cluster of registries.'),
  partition: text('Partition', 'The partition of the services.'),
});
