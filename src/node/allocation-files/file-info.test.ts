import { expect, test } from 'vitest';
import { contentType } from './content-type.ts';
import { modeText } from './file-info.ts';

test.each([
  [0o100644, '-rw-r--r--'],
  [0o100000, '----------'],
  [0o040755, 'drwxr-xr-x'],
  [0o041777, 'dtrwxrwxrwx'],
  [0o120777, 'Lrwxrwxrwx'],
  [0o010600, 'prw-------'],
  [0o140600, 'Srw-------'],
  [0o060660, 'Drw-rw----'],
  [0o020666, 'Dcrw-rw-rw-'],
  [0o104755, 'urwxr-xr-x'],
  [0o102755, 'grwxr-xr-x'],
])('the mode %o is %s', (mode, text) => {
  expect(modeText({ mode })).toBe(text);
});

test.each([
  ['', 'text/plain; charset=utf-8'],
  ['a line\nanother\n', 'text/plain; charset=utf-8'],
  ['grüße 🙂', 'text/plain; charset=utf-8'],
  ['\x1b[31mred\x1b[0m', 'text/plain; charset=utf-8'],
  [' <!DOCTYPE html><p>', 'text/html; charset=utf-8'],
  ['<htmlx>', 'text/plain; charset=utf-8'],
  ['<?xml version="1.0"?>', 'text/xml; charset=utf-8'],
  ['%PDF-1.7', 'application/pdf'],
  [Buffer.from('89504e470d0a1a0a00', 'hex'), 'image/png'],
  [Buffer.from('1f8b080000', 'hex'), 'application/x-gzip'],
  [Buffer.from('7f454c46020101', 'hex'), 'application/octet-stream'],
] as const)('%j is %s', (content, type) => {
  expect(contentType(Buffer.from(content as string))).toBe(type);
});
