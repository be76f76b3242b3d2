/** Whom an agent runs as that is not root. */
export const plainUser = 'daemon';
