/** Why an artifact is not there, as its user reads it. It never holds a header, an option or a query. */
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

/** An error of the disk, of the network or of a library in a sentence. */
export function failureOf(error: unknown): ArtifactFailure {
  if (error instanceof ArtifactFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = systemSentences[code ?? ''];
  // What a machine lacks it may have later; what a library does not understand stays as it is.
  return new ArtifactFailure(known ?? message, code !== undefined);
}
