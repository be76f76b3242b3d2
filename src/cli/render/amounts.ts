/** Resources that are held and offered, in words. */

/** In MHz and MB, as the API has them. */
export interface Amounts {
  readonly CPU: number;
  readonly MemoryMB: number;
  readonly DiskMB: number;
}

export const noAmounts: Amounts = { CPU: 0, MemoryMB: 0, DiskMB: 0 };

export const addAmounts = (left: Amounts, right: Amounts): Amounts => ({
  CPU: left.CPU + right.CPU,
  MemoryMB: left.MemoryMB + right.MemoryMB,
  DiskMB: left.DiskMB + right.DiskMB,
});

/** `500 of 4000 MHz (13 %)` */
const shareText = (held: number, offered: number, unit: string): string => {
  const share = offered > 0 ? ` (${Math.round((held / offered) * 100)} %)` : '';
  return `${held} of ${offered} ${unit}${share}`;
};

export const cpuText = (held: Amounts, offered: Amounts): string =>
  shareText(held.CPU, offered.CPU, 'MHz');
export const memoryText = (held: Amounts, offered: Amounts): string =>
  shareText(held.MemoryMB, offered.MemoryMB, 'MB');
export const diskText = (held: Amounts, offered: Amounts): string =>
  shareText(held.DiskMB, offered.DiskMB, 'MB');
