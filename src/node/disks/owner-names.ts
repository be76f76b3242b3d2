/** The owner's name in an archive for files of the allocation's own user. */
export const ownName = 'allocation';
export const otherName = 'machine';

/** `nobody`: agents that give no users run the successor as this user. */
export const ownUserOnTheWay = { uid: 65_534, gid: 65_534 } as const;
