/** Of the clusters of a simulation: so many there may be. */
export const names = ['east', 'west', 'north'] as const;
