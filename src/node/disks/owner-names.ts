/** What an archive says of a file's owner: its allocation's own user, or one of the machine. */
export const ownName = 'allocation';
export const otherName = 'machine';

/** `nobody`, as whom an agent that gives no users runs the successor. */
export const ownUserOnTheWay = { uid: 65_534, gid: 65_534 } as const;
