/** The format of the agent's log: errors have message and stack, and secrets are removed. */
export const logOptions = (level: string) => ({
  level,
  serializers: { error: shownError },
  redact: { paths: secretPaths, censor: '[secret]' },
});

/** Only fields without secrets: errors of libraries contain whole requests. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause: shownError(cause) }),
  };
}

const secretNames = [
  'token',
  'secret',
  'Token',
  'SecretID',
  'rootToken',
  'rootSecret',
  'authorization',
  '["x-registry-token"]',
  '["x-scheduler-token"]',
];

const secretPaths = secretNames.flatMap((name) =>
  ['', '*', '*.*'].map((above) =>
    above === '' ? name : name.startsWith('[') ? `${above}${name}` : `${above}.${name}`,
  ),
);
