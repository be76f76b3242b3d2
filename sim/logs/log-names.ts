/** The logs that several servers of a life may share. */
export const logNames = ['memory', 'etcd'] as const;

export type LogName = (typeof logNames)[number];
