/** Stands for a secret that is not for the caller. Sent back, it keeps the stored secret. */
export const hiddenSecret = '<hidden>';
