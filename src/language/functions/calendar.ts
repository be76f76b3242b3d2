export const months: readonly string[] =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

export const days: readonly string[] =
  'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The number with at least two digits. */
export const two = (value: number): string => String(value).padStart(2, '0');

/** The hour of a twelve-hour clock, in UTC. */
export const hourOf12 = (date: Date): number => date.getUTCHours() % 12 || 12;

/** `am` or `pm`, in UTC. */
export const halfOfDay = (date: Date): string => (date.getUTCHours() < 12 ? 'am' : 'pm');
