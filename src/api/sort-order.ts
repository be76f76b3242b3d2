// Not in limits: as many hexadecimal digits as 64 bits have.
const digits = 16;

/** A text whose order is that of the values. Case does not count. */
export function sortText(value: unknown): string {
  if (typeof value === 'number') return value.toString(16).padStart(digits, '0');
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' ? value.toLowerCase().replaceAll('\0', '') : '';
}

/** The direction of an order in the token of a page. */
export const directionOf = (isDescending: boolean): string => (isDescending ? 'down' : 'up');
