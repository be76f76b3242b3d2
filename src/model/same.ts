/** Deep equality of plain data: the order of lists counts, the order of keys does not. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSame(item, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) {
    const mine = (left as Record<string, unknown>)[key];
    const other = (right as Record<string, unknown>)[key];
    if (mine === other && mine !== undefined) continue;
    if (!Object.hasOwn(right, key) || !isSame(mine, other)) return false;
  }
  return true;
}
