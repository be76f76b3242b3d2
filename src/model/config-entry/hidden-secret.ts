/** Shown in place of a secret that the caller may not read. In a request it keeps the stored secret. */
export const hiddenSecret = '<hidden>';
