/** How the agent writes its log: an error with its text and place, a secret never. */
export const logOptions = (level: string) => ({
  level,
  serializers: { error: shownError },
  redact: { paths: secretPaths, censor: '[secret]' },
});

/** Only fields that are known to hold no secret: errors of libraries carry whole requests. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return {
    ...{ type: name, message, stack },
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
