const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** The reason why a file cannot be read, in words. */
export const unreadableReason = (error: NodeJS.ErrnoException): string =>
  reasons[error.code ?? ''] ?? error.message;
