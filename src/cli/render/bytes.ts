const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size: `12 B`, `1.5 KiB`, `340 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 99.95 ? 1 : 0)} ${units[unit]}`;
}

/** `3.5 %` */
export const percentText = (percent: number): string => `${percent.toFixed(1)} %`;
