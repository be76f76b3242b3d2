/** Numbers as text, for job files and templates. All numbers are finite. */

/** A number of any size without an exponent. A negative zero has no sign. */
export function plainText(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [mantissa = '', power] = text.split('e');
  const sign = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  const exponent = Number(power);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

/** `1.5e+7` as `1.5e+07`. */
export const exponentText = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');

/** With this number of decimals, as `%f`. Rounds halves to the even digit. */
export function fixedText(value: number, decimals: number): string {
  if (decimals > 100) return fixedText(value, 100) + '0'.repeat(decimals - 100);
  // `toFixed` would write these numbers with an exponent.
  if (Math.abs(value) >= 1e21) {
    return decimals === 0 ? plainText(value) : `${BigInt(value)}.${'0'.repeat(decimals)}`;
  }
  const text = value.toFixed(decimals);
  const exact = value.toFixed(100);
  const cutAt = exact.indexOf('.') + 1 + decimals;
  const isHalf = decimals < 100 && /^50*$/.test(exact.slice(cutAt));
  const shorter = exact.slice(0, decimals === 0 ? cutAt - 1 : cutAt);
  return isHalf && /[02468]$/.test(shorter) ? shorter : text;
}

/** With at most this number of digits, as `%g`: an exponent that is below -4 or exceeds the digits is shown. */
export function generalText(value: number, precision: number): string {
  const digits = Math.min(100, Math.max(1, precision));
  const [mantissa = '', power = ''] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) {
    return withoutZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
  }
  return exponentText(`${withoutZeros(mantissa)}e${power}`);
}

const withoutZeros = (text: string): string =>
  text.includes('.') ? text.replace(/\.?0+$/, '') : text;
