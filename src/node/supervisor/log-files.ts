/** N of `<prefix>N`, or -1 for other names. */
export function logFileIndex(name: string, prefix: string): number {
  if (!name.startsWith(prefix)) return -1;
  const digits = name.slice(prefix.length);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
}
