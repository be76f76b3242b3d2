export const networkLimits = {
  portMax: 65_535,
  dynamicPortMin: 20_000,
  dynamicPortMax: 32_000,
} as const;
