/** What stands for a secret that is not for the caller; sent back, it means the one that is kept. */
export const hiddenSecret = '<hidden>';
