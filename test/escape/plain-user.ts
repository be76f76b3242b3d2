/** The user of an agent that is not root. */
export const plainUser = 'daemon';
