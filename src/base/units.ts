/** Units of time, in milliseconds, and of size, in bytes. */
export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
