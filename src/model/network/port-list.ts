import { networkLimits } from './limits.ts';

/** Whether the text is a list of ports and ranges of ports, such as `22,8000-8010`, or empty. */
export function isPortList(text: string): boolean {
  if (text === '') return true;
  return text.split(',').every((part) => {
    const [, first, last = first] = /^\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*$/.exec(part) ?? [];
    if (first === undefined) return false;
    return Number(first) <= Number(last) && Number(last) <= networkLimits.portMax;
  });
}
