/** The names of the clusters, which also bound their number. */
export const names = ['east', 'west', 'north'] as const;
