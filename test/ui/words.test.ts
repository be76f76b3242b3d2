/** Numbers in words, and which answer may stand while another is awaited. */
import { expect, test } from 'vitest';
import { clockFault } from '../../ui/src/app/clock-words.ts';
import { likeness } from '../../ui/src/live/same-question.ts';
import { typedDuration } from '../../ui/src/pages/access/method-fields.ts';
import {
  bytesText,
  durationText,
  percentText,
  relativeText,
  writtenText,
} from '../../ui/src/parts/format.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1,023 B'],
  [kibibyte, '1 KiB'],
  [1.5 * kibibyte, '1.5 KiB'],
  [mebibyte - 1, '1 MiB'],
  [1023.9 * kibibyte, '1,023.9 KiB'],
  [1025 * mebibyte, '1 GiB'],
  [7_654_321 * mebibyte, '7.3 TiB'],
  [2048 * 1024 ** 5, '2,048 PiB'],
])('%d bytes are %s', (bytes, words) => expect(bytesText(bytes)).toBe(words));

test.each([
  [undefined, '–'],
  [0, '0 %'],
  [0.0001, '< 1 %'],
  [0.01, '1 %'],
  [0.5049, '50 %'],
  [0.99, '99 %'],
  [0.9999, '> 99 %'],
  [1, '100 %'],
  [1.0001, '101 %'],
  [12.5, '1,250 %'],
])('a share of %d is %s', (share, words) => expect(percentText(share)).toBe(words));

test.each([
  [0, '0 ms'],
  [999.9, '999 ms'],
  [1000, '1 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min 59 s'],
  [-1500, '−1.5 s'],
  [90_000_000, '1 d 1 h'],
])('%d milliseconds are %s', (ms, words) => expect(durationText(ms)).toBe(words));

test.each([
  ['0s', '0 s'],
  ['1h0m0s', '1 h'],
  ['1h0m30s', '1 h 30 s'],
  ['1500ms', '1.5 s'],
  ['250ms', '250 ms'],
  ['100µs', '0.1 ms'],
  ['720h', '30 d'],
  ['-5m0s', '−5 min'],
  ['', ''],
])('the setting "%s" is %s', (written, words) => expect(writtenText(written)).toBe(words));

test.each([
  ['0s', ''],
  ['1h0m0s', '1h'],
  ['5m0s', '5m'],
  ['1h0m30s', '1h0m30s'],
  ['10s', '10s'],
])('a field shows %s as "%s"', (written, typed) => expect(typedDuration(written)).toBe(typed));

test.each([
  [0, 'now'],
  [-999, 'now'],
  [-1000, '1 s ago'],
  [-59_999, '59 s ago'],
  [3_600_000, 'in 1 h'],
  [-47 * 3_600_000, '47 h ago'],
])('an instant %d milliseconds away is %s', (ms, words) =>
  expect(relativeText(1e12 + ms, 1e12)).toBe(words),
);

test.each([
  ['/v1/jobs?per_page=100', '/v1/jobs?per_page=200&total=true', 'same'],
  ['/v1/jobs?filter=a&per_page=100', '/v1/jobs?filter=b&per_page=100', 'near'],
  ['/v1/matrix?name=a', '/v1/matrix?name=a&name=b', 'near'],
  ['/v1/jobs?namespace=a', '/v1/jobs?namespace=b', 'other'],
  ['/v1/services?peer=a', '/v1/services', 'other'],
  ['/v1/job/a', '/v1/job/b', 'other'],
  ['/v1/jobs', undefined, 'other'],
])('after %s, %s is asked: %s', (one, other, like) => expect(likeness(one, other)).toBe(like));

test.each([
  [0, undefined],
  [60_000, undefined],
  [60_001, '1 min behind'],
  [-11_520_000, '3 h 12 min ahead'],
])('a server that is %d milliseconds ahead: the clock of the device is %s', (aheadMs, words) =>
  expect(clockFault(aheadMs)).toBe(words),
);
