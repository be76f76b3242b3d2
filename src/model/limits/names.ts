export const namesLimits = {
  lengthMax: 256,
  serviceLengthMax: 63,
  actionLengthMax: 128,
  descriptionLengthMax: 1000,
  checkNotesLengthMax: 255,
} as const;
