const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Why a file cannot be read, as people say it. */
export const unreadableReason = (error: NodeJS.ErrnoException): string =>
  reasons[error.code ?? ''] ?? error.message;
