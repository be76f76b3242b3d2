/** Why an artifact could not be fetched, without headers, options and queries. */
export class ArtifactFailure extends Error {
  override readonly name = 'ArtifactFailure';
  /** Whether another try may succeed without a change of the job. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass = false) {
    super(message);
    this.mayPass = mayPass;
  }
}

const systemSentences: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk failed',
};

/** A failure from an error of the disk, the network or a library. */
export function failureOf(error: unknown): ArtifactFailure {
  if (error instanceof ArtifactFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = systemSentences[code ?? ''];
  // Errors of the system may pass; errors of a library about the content do not.
  return new ArtifactFailure(known ?? message, code !== undefined);
}
